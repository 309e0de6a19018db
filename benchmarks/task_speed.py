"""Speed of relevance bounds for regression, ordinal regression and ranking, and of a path over C.

Regression and ordered classes are compared with fri, with identical constraints. A path over C and
a ranking with 25 million pairs are also timed.

usage: python -m benchmarks.task_speed [--without-fri]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from allrelevant import ClassificationBounds, RankingBounds, bounds_path
from allrelevant.bounds.baseline import FORMULATIONS
from allrelevant.bounds.ordinal import OrdinalData
from allrelevant.bounds.regression import RegressionData
from allrelevant.bounds.solver.ranges import size_ranges
from allrelevant.bounds.task import TaskData
from allrelevant.datasets import make_linear_regression, make_ordinal_classification, make_ranking

from .comparators import fri_peer
from .dorothea import peak_gigabytes
from .speed import ROOT, fri_answer
from .speed_cases import NARROW
from .speed_run import compile_solver, measure

COUNTS: dict[str, Any] = {"n_strong": 5, "n_weak": 10}


def regression() -> tuple[TaskData, dict[str, Any]]:
    data = make_linear_regression(500, n_irrelevant=85, target_noise=0.3, random_state=0, **COUNTS)
    samples = RegressionData(scaled(data.X), scaled(data.y), np.ones(500), epsilon=0.1)
    return samples, {"kind": "regression", "epsilon": 0.1}


def ordinal() -> tuple[TaskData, dict[str, Any]]:
    data = make_ordinal_classification(
        500, n_irrelevant=35, n_classes=5, flip=0.1, random_state=0, **COUNTS
    )
    return OrdinalData(scaled(data.X), data.y.astype(float), np.ones(500)), {"kind": "ordinal"}


def scaled(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def compare(name: str, make: Callable[[], tuple[TaskData, dict[str, Any]]], C: float) -> None:
    samples, task = make()
    baseline = FORMULATIONS["separate"].fit(samples, C)

    def solve() -> Any:
        models = FORMULATIONS["separate"].equivalent_models(baseline, NARROW)
        return size_ranges(models, range(samples.n_features))

    with threadpool_limits(1):
        seconds, (interval, effort) = measure(5, solve)
    norm, loss = NARROW.norm_limit(baseline.model), NARROW.loss_limit(baseline.model)
    theirs = fri_answer(X=samples.X, y=samples.y, C=C, norm=norm, loss=loss, **task)
    difference = np.abs(interval - theirs["interval"]).max()
    print(
        f"| {name} | {2 * samples.n_features - effort.spared} | {seconds:.3f} "
        f"| {theirs['programs']} | {theirs['seconds']:.1f} "
        f"| {theirs['seconds'] / seconds:,.0f} | {difference:.0e} |",
        flush=True,
    )


def path_over_C() -> None:
    """Compare the time of a path over C with that of one fit, and draw the path."""
    import matplotlib

    matplotlib.use("Agg")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    C = float(ClassificationBounds(random_state=0).fit(X, y).baseline_.C_)
    estimator = ClassificationBounds(C=C, random_state=0)
    fit_seconds, _ = measure(3, lambda: estimator.fit(X, y))
    path_seconds, path = measure(3, lambda: bounds_path(estimator, X, y, param="C"))
    print(
        f"\nBreast cancer: one fit at C = {C:.3g} takes {fit_seconds:.2f} s, a path of "
        f"{len(path.values)} values of C takes {path_seconds:.2f} s, as long as "
        f"{path_seconds / fit_seconds:.1f} fits."
    )
    path.plot().figure_.savefig(ROOT / "docs" / "images" / "path.png", dpi=90)


def large_ranking() -> None:
    data = make_ranking(10_000, n_irrelevant=10, positive=0.5, flip=0.1, random_state=0)
    start = time.perf_counter()
    bounds = RankingBounds(random_state=0, n_jobs=2).fit(data.X, data.y)
    seconds = time.perf_counter() - start
    peak, n_processes = peak_gigabytes()
    correct = (bounds.relevance_ == data.relevance).mean()
    print(
        f"\nRanking, 25 million pairs (5,000 rows of each class, 20 features, default settings, "
        f"two workers): {seconds:.0f} s, {peak:.2f} GiB (sum of the peaks of {n_processes} "
        f"processes); AUC {bounds.auc_:.3f}; {100 * correct:.0f}% of the relevance classes "
        f"correct; largest gap {bounds.gap_.max():.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-fri", action="store_true", help="skip fri, do not install it")
    args = parser.parse_args()
    compile_solver()
    if not args.without_fri:
        fri_peer.install()
        print("| Task | LPs | Seconds | LPs, fri | Seconds, fri | Ratio | Largest difference |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        compare("regression 500 x 100", regression, 0.1)
        compare("ordered classes 500 x 50, 5 classes", ordinal, 0.1)
    path_over_C()
    large_ranking()


if __name__ == "__main__":
    main()
