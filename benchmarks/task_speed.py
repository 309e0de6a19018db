"""Regression and ordered classes beside fri on the same constraints; a path; a large ranking.

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
from .speed_run import best_of, compile_kernel

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
        seconds, (interval, effort) = best_of(5, solve)
    norm, loss = NARROW.norm_limit(baseline.model), NARROW.loss_limit(baseline.model)
    theirs = fri_answer(X=samples.X, y=samples.y, C=C, norm=norm, loss=loss, **task)
    difference = np.abs(interval - theirs["interval"]).max()
    print(
        f"| {name} | {2 * samples.n_features - effort.spared} | {seconds:.3f} "
        f"| {theirs['programs']} | {theirs['seconds']:.1f} "
        f"| {theirs['seconds'] / seconds:,.0f} | {difference:.0e} |",
        flush=True,
    )


def path_of_C() -> None:
    """A path of 20 values of C, in fits at the C that cross-validation chooses; its figure."""
    import matplotlib

    matplotlib.use("Agg")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    C = float(ClassificationBounds(random_state=0).fit(X, y).baseline_.C_)
    estimator = ClassificationBounds(C=C, random_state=0)
    one, _ = best_of(3, lambda: estimator.fit(X, y))
    path, found = best_of(3, lambda: bounds_path(estimator, X, y, param="C"))
    print(
        f"\nBreast cancer: a fit at C = {C:.3g} {one:.2f} s, a path of {len(found.values)} values "
        f"of C {path:.2f} s: {path / one:.1f} fits."
    )
    found.plot().figure_.savefig(ROOT / "docs" / "images" / "path.png", dpi=90)


def large_ranking() -> None:
    data = make_ranking(10_000, n_irrelevant=10, positive=0.5, flip=0.1, random_state=0)
    start = time.perf_counter()
    bounds = RankingBounds(random_state=0, n_jobs=2).fit(data.X, data.y)
    seconds = time.perf_counter() - start
    peak, n_processes = peak_gigabytes()
    right = (bounds.relevance_ == data.relevance).mean()
    print(
        f"\nRanking, 5,000 above 5,000, 20 features, defaults, two workers: {seconds:.0f} s, "
        f"{peak:.2f} GiB, the peaks of {n_processes} processes added up; "
        f"AUC {bounds.auc_:.3f}; {right:.0%} of the classes right; "
        f"largest gap {bounds.gap_.max():.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-fri", action="store_true")
    args = parser.parse_args()
    compile_kernel()
    if not args.without_fri:
        fri_peer.install()
        print(
            "| task | programs | seconds | programs of fri | seconds of fri | ratio | difference |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        compare("regression 500 x 100", regression, 0.1)
        compare("ordered classes 500 x 50, 5 classes", ordinal, 0.1)
    path_of_C()
    large_ranking()


if __name__ == "__main__":
    main()
