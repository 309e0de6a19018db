"""How well the classes found agree with the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    """F1 measure; 1 where there is nothing to find and nothing was found."""
    total = truth.sum() + found.sum()
    return 1.0 if total == 0 else float(2 * (truth & found).sum() / total)


def class_scores(truth: NDArray[np.str_], found: NDArray[np.str_]) -> dict[str, float]:
    """F1 of the relevant features, and of the strong and the weak ones."""
    return {
        "relevant": f1(truth != "irrelevant", found != "irrelevant"),
        "strong": f1(truth == "strong", found == "strong"),
        "weak": f1(truth == "weak", found == "weak"),
    }


def best_f1(truth: NDArray[np.str_], upper: NDArray[np.float64]) -> float:
    """F1 of the relevant features at the cutoff of the upper bound that suits the truth best.

    No rule without knowledge of the truth can do better with these bounds.
    """
    return max(f1(truth != "irrelevant", upper >= cutoff) for cutoff in np.unique(upper))
