"""Figure and table of docs/elimination.md: optimistic and held-out scores, breast cancer data.

usage: python -m benchmarks.elimination_figure
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip

FIGURE = Path(__file__).parents[1] / "docs" / "images" / "elimination.svg"


def timed_fit(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    start = time.process_time()
    return model.fit(X, y), time.process_time() - start


def score_of_selection(model: Any) -> float:
    """Return the inner score of the selected subset."""
    return float(model.scores_[model.n_subset_features_ == model.n_features_].max())


def print_row(name: str, rule: str, model: Any, once: Any, seconds: tuple[float, float]) -> None:
    held_out = model.held_out_score_
    print(
        f"| {name} | {rule} | {model.n_features_} | {held_out.score:.3f} "
        f"± {held_out.standard_error:.3f} | {held_out.stability.nogueira:.2f} | {seconds[0]:.1f} s "
        f"| {once.n_features_} | {score_of_selection(once):.3f} | {seconds[1]:.1f} s |"
    )


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "elimination"  # reproducible file
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    SVMRFE(n_features_to_select=1).fit(X.iloc[::10], y.iloc[::10])  # load the solver before timing
    print(
        "| selector | rule | features | held-out score | stability | CPU time "
        "| ranked once: features | optimistic score | CPU time |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with threadpool_limits(1):
        for selector in (SVMRFE(random_state=0), EBRFE(random_state=0)):
            model, seconds = timed_fit(selector, X, y)
            once, seconds_once = timed_fit(clone(selector).set_params(repeat_in_folds=False), X, y)
            for rule in ("best", "one_se"):
                times = (seconds, seconds_once)
                print_row(type(model).__name__, rule, model.select(rule), once.select(rule), times)
            if type(model) is SVMRFE:
                display = model.select("best").plot(log=False)
                display.figure_.savefig(FIGURE, metadata={"Date": None})
        start = SVMRFE(n_features_to_select="one_se", random_state=0)
        for method in (BitFlip, AttributeFlip):
            flip, seconds = timed_fit(method(start, max_rounds=None, random_state=0), X, y)
            name = f"{method.__name__}, started from SVMRFE with one_se"
            once, seconds_once = timed_fit(clone(flip).set_params(repeat_in_folds=False), X, y)
            print_row(name, "best", flip, once, (seconds, seconds_once))


if __name__ == "__main__":
    main()
