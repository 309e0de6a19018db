"""Figure and table of docs/elimination.md: inner and nested scores on the breast cancer data.

usage: python -m benchmarks.elimination_figure
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip

FIGURE = Path(__file__).parents[1] / "docs" / "images" / "elimination.svg"
COSTS = (0.1, 1.0, 10.0)


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "elimination"  # reproducible file
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    plain = SVMRFE(C=COSTS, nested_cv=True).fit(X, y)
    candidates = EBRFE(C=COSTS, nested_cv=True, n_candidates=5).fit(X, y)
    print("| selector | selection rule | features | inner accuracy | nested accuracy |")
    print("| --- | --- | --- | --- | --- |")
    for model in (plain, candidates):
        for rule in ("best", "one_se"):
            model.select(rule)
            selected = model.n_subset_features_ == model.n_features_
            print(
                f"| {type(model).__name__} | {rule} | {model.n_features_} "
                f"| {float(model.scores_[selected][0]):.3f} | {model.nested_score_.score:.3f} |"
            )
    start = SVMRFE(C=COSTS, n_features_to_select="one_se")
    for method in (BitFlip, AttributeFlip):
        flip = method(start, C=COSTS, max_rounds=None).fit(X, y)
        print(
            f"| {method.__name__}, started from SVMRFE with one_se | best | {flip.n_features_} "
            f"| {flip.best_score_:.3f} (before {flip.scores_[0]:.3f}) | |"
        )
    display = candidates.select("one_se").plot(log=False)
    display.figure_.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
