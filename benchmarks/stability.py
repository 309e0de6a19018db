"""How far bounds and classes move from split to split, as in ferel18, section 4.2.

The paper's table (adrenal steroids) is not at hand; this is breast cancer, with the paper's 64
random splits of 90 % to 10 %. Prints the ratio of standard deviations (the paper's Figure 2) with C
chosen anew on every split and with the C chosen on the whole table, and draws the means (its
Figure 3) for the former in docs/images/stability.svg.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, Stability, stability
from allrelevant.plots.stability import format_ratio
from allrelevant.relevance import CLASSES

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "stability.svg"
N_SPLITS = 64


def run(C: float | str) -> Stability:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    bounds = ClassificationBounds(C=C)  # type: ignore[arg-type]
    return stability(bounds, X, y, n_splits=N_SPLITS, test_size=0.1, random_state=0)


def chosen_C() -> float:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return float(ClassificationBounds(random_state=0).fit(X, y).baseline_.C_)


def in_short(found: Stability) -> dict[str, str]:
    """The whole result in a few numbers."""
    ratio, usual = found.ratio, found.frequency.max(axis=1)
    used = (found.baseline > 0).mean(axis=0) >= 0.5
    return {
        "norm of the baseline: smallest, median, largest": three(found.baseline.sum(axis=1)),
        "ratio, median of all features": format_ratio(float(np.median(ratio))),
        "features with a ratio of at most 1.5": str((ratio <= 1.5).sum()),
        "features whose weight in the baseline never varies": str(np.isinf(ratio).sum()),
        "features that the baseline uses in half of the splits or more": str(used.sum()),
        "their ratio: smallest, median, largest": three(ratio[used]),
        "their upper bounds: std / mean, median": relative_spread(found.upper[:, used]),
        "their weights in the baseline: std / mean, median": relative_spread(
            found.baseline[:, used]
        ),
        "features in one class on all splits": str((usual == 1).sum()),
        "features in one class on 90 % of the splits or more": str((usual >= 0.9).sum()),
        "accuracy on rows held out": f"{found.test_score.mean():.3f} "
        f"± {found.test_score.std(ddof=1):.3f}",
    }


def three(values: np.ndarray) -> str:
    return ", ".join(format_ratio(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))


def relative_spread(values: np.ndarray) -> str:
    return f"{np.median(values.std(axis=0, ddof=1) / values.mean(axis=0)):.2f}"


def print_in_short(anew: Stability, fixed: Stability, C: float) -> None:
    print(f"| of 30 features | C chosen on every split | C = {C:.3g} on all |\n|{' --- |' * 3}")
    for (name, left), right in zip(in_short(anew).items(), in_short(fixed).values(), strict=True):
        print(f"| {name} | {left} | {right} |")


def print_table(anew: Stability, fixed: Stability) -> None:
    titles = ("feature", "upper bound", "baseline", "ratio", "ratio, C fixed", *CLASSES)
    print(f"\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    ratio_fixed = dict(zip(fixed.feature_names, fixed.ratio, strict=True))
    for row in anew.to_frame().itertuples():
        print(
            f"| {row.Index} | {row.upper_mean:.2f} ± {row.upper_std:.2f} "
            f"| {row.baseline_mean:.2f} ± {row.baseline_std:.2f} | {format_ratio(row.ratio)} "
            f"| {format_ratio(ratio_fixed[row.Index])} "
            f"| {row.strong:.0%} | {row.weak:.0%} | {row.irrelevant:.0%} |"
        )


def main() -> None:
    C = chosen_C()
    start = time.perf_counter()
    anew, fixed = run("cv"), run(C)
    print(f"{2 * N_SPLITS} fits in {time.perf_counter() - start:.0f} seconds on one core.\n")
    print_in_short(anew, fixed, C)
    print_table(anew, fixed)
    plt.rcParams["svg.hashsalt"] = "stability"  # the same file from the same numbers
    anew.plot().figure_.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
