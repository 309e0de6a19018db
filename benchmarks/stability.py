"""Stability of bounds and relevance classes over random splits, as in Göpfert et al. (2018).

The paper's data (adrenal steroids) are not public, so this script uses the breast cancer data, with
64 random splits into 90% and 10% as in the paper. It prints the ratio of standard deviations
(Figure 2 of the paper), with C chosen on every split and with the C chosen on the whole table. For
C chosen on every split, it also draws the means (Figure 3) in docs/images/stability.svg. With
another rule for relevance than the default, the figure is not drawn.

usage: python -m benchmarks.stability [--rule probes]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, Stability, stability
from allrelevant._params import CutoffName
from allrelevant.plots.stability import format_ratio
from allrelevant.relevance import CLASSES

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "stability.svg"
N_SPLITS = 64


def run(C: float | str, rule: CutoffName) -> Stability:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    bounds = ClassificationBounds(C=C, cutoff=rule)  # type: ignore[arg-type]
    return stability(bounds, X, y, n_splits=N_SPLITS, test_size=0.1, random_state=0)


def chosen_C() -> float:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return float(ClassificationBounds(random_state=0).fit(X, y).baseline_.C_)


def summarize(result: Stability) -> dict[str, str]:
    """Summarize how bounds and baseline weights vary over the splits."""
    ratio, frequency = result.ratio, result.frequency.max(axis=1)
    used = (result.baseline > 0).mean(axis=0) >= 0.5
    return {
        "norm of the baseline: minimum, median, maximum": format_range(result.baseline.sum(axis=1)),
        "ratio, median over all features": format_ratio(float(np.median(ratio))),
        "features with a ratio of at most 1.5": str((ratio <= 1.5).sum()),
        "features whose baseline weight never varies": str(np.isinf(ratio).sum()),
        "features that the baseline uses in at least half of the splits": str(used.sum()),
        "ratio of these features: minimum, median, maximum": format_range(ratio[used]),
        "upper bounds of these features: std / mean, median": relative_std(result.upper[:, used]),
        "baseline weights of these features: std / mean, median": relative_std(
            result.baseline[:, used]
        ),
        "features with the same relevance class on all splits": str((frequency == 1).sum()),
        "features with the same relevance class on at least 90% of the splits": str(
            (frequency >= 0.9).sum()
        ),
        "accuracy on held-out rows": f"{result.test_score.mean():.3f} "
        f"± {result.test_score.std(ddof=1):.3f}",
    }


def format_range(values: np.ndarray) -> str:
    return ", ".join(format_ratio(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))


def relative_std(values: np.ndarray) -> str:
    return f"{np.median(values.std(axis=0, ddof=1) / values.mean(axis=0)):.2f}"


def print_summary(chosen: Stability, fixed: Stability, C: float) -> None:
    titles = ("Quantity (30 features)", "C chosen on every split", f"C = {C:.3g} on all splits")
    print(f"| {' | '.join(titles)} |\n|{' --- |' * 3}")
    rows = zip(summarize(chosen).items(), summarize(fixed).values(), strict=True)
    for (name, left), right in rows:
        print(f"| {name} | {left} | {right} |")


def print_table(chosen: Stability, fixed: Stability) -> None:
    classes = (name.capitalize() for name in CLASSES)
    titles = ("Feature", "Upper bound", "Baseline", "Ratio", "Ratio, C fixed", *classes)
    print(f"\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    ratio_fixed = dict(zip(fixed.feature_names, fixed.ratio, strict=True))
    for row in chosen.to_frame().itertuples():
        print(
            f"| {row.Index} | {row.upper_mean:.2f} ± {row.upper_std:.2f} "
            f"| {row.baseline_mean:.2f} ± {row.baseline_std:.2f} | {format_ratio(row.ratio)} "
            f"| {format_ratio(ratio_fixed[row.Index])} "
            f"| {' | '.join(f'{getattr(row, name):.0%}' for name in CLASSES)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", choices=("fdr", "probes"), default="fdr")
    rule = parser.parse_args().rule
    C = chosen_C()
    start = time.perf_counter()
    chosen, fixed = run("cv", rule), run(C, rule)
    print(f"{2 * N_SPLITS} fits in {time.perf_counter() - start:.0f} seconds on one core.\n")
    print_summary(chosen, fixed, C)
    print_table(chosen, fixed)
    if rule == "fdr":
        plt.rcParams["svg.hashsalt"] = "stability"  # reproducible file
        chosen.plot().figure_.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
