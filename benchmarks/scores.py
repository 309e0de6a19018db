"""F1 scores of relevance classes with respect to the ground truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allrelevant.relevance import RELEVANT


def f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    """Return the F1 score; it is 1 if no feature is relevant and none was found."""
    total = truth.sum() + found.sum()
    return 1.0 if total == 0 else float(2 * (truth & found).sum() / total)


def class_scores(truth: NDArray[np.str_], found: NDArray[np.str_]) -> dict[str, float]:
    """Return the F1 scores of the relevant, the strong and the weak features."""
    return {
        "relevant": f1(np.isin(truth, RELEVANT), np.isin(found, RELEVANT)),
        "strong": f1(truth == "strong", found == "strong"),
        "weak": f1(truth == "weak", found == "weak"),
    }


def best_f1(truth: NDArray[np.str_], upper: NDArray[np.float64]) -> float:
    """Return the F1 score of the relevant features with the best possible cutoff.

    The cutoff on the upper bounds is chosen with knowledge of the ground truth, so no other cutoff
    has a higher score.
    """
    return max(f1(truth != "irrelevant", upper >= cutoff) for cutoff in np.unique(upper))
