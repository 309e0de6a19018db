"""Time for saliency compared with training, on 2,000 rows and 500 features.

20 features are relevant.

Times are CPU times on one core, which depend little on other work on the computer.

usage: python -m benchmarks.saliency_speed [--epochs N] [--models NAME ...]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from allrelevant import SaliencySelector
from allrelevant.saliency import as_differentiable
from allrelevant.saliency.aggregation import aggregate_saliency
from allrelevant.saliency.trainers import trainer_for

KERNELS = ("linear", "poly", "rbf", "sigmoid")
GAMMA, MIN_FEATURES = 0.9, 50


def table() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        2_000,
        500,
        n_informative=20,
        n_redundant=0,
        n_clusters_per_class=8,
        class_sep=2.0,
        shuffle=False,
        random_state=0,
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def print_svms(X: np.ndarray, y: np.ndarray) -> None:
    print(
        "| kernel | support vectors | training (s) | saliency of all rows (s) |\n"
        "| --- | --- | --- | --- |"
    )
    for kernel in KERNELS:
        svc = SVC(kernel=kernel, gamma="auto", coef0=1.0, max_iter=20_000)
        training, _ = timed(partial(svc.fit, X, y))
        saliency, _ = timed(partial(aggregate_saliency, as_differentiable(svc), X, y, n_classes=2))
        print(f"| {kernel} | {len(svc.support_)} | {training:.2f} | {saliency:.2f} |", flush=True)


def make_model(name: str, epochs: int) -> Any:
    if name == "SVC":
        return SVC()
    if name == "MLPClassifier":
        return MLPClassifier(
            (150, 100, 50), batch_size=100, max_iter=epochs, n_iter_no_change=epochs
        )
    return trainer_for(name, classes=True).set_params(max_epochs=epochs)


@contextmanager
def time_in_fit(kind: Any) -> Iterator[list[float]]:
    """Record the CPU time of each call to the ``fit`` method of a class."""
    original_fit = kind.fit
    seconds: list[float] = []

    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        elapsed, result = timed(lambda: original_fit(self, *args, **kwargs))
        seconds.append(elapsed)
        return result

    with patch.object(kind, "fit", fit):
        yield seconds


def print_run(name: str, epochs: int, X: np.ndarray, y: np.ndarray) -> None:
    """Print the time of a selection, and the part of it that is spent on training.

    Times of separate runs differ by more than the time for saliency.
    """
    model = make_model(name, epochs)
    clone(model).fit(X[:200, :10], y[:200])  # load libraries before timing
    selector = SaliencySelector(
        model,
        keep_fraction=GAMMA,
        n_repeats=1,
        min_features_to_select=MIN_FEATURES,
        n_features_to_select=MIN_FEATURES,
        standardize=False,
        balanced=False,
        random_state=0,
    )
    with time_in_fit(type(model)) as fit_seconds:
        whole, _ = timed(partial(selector.fit, X, y))
    training = sum(fit_seconds)
    fraction = selector.history_["saliency_seconds"].sum() / whole
    print(
        f"| {name} | {len(fit_seconds)} | {training:.1f} | {whole:.1f} | {whole / training:.3f} "
        f"| {100 * fraction:.1f}% |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--models", nargs="+", default=["SVC", "MLPClassifier", "mlp"])
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # steps and epochs are limited
    X, y = table()
    with threadpool_limits(1):
        print_svms(X, y)
        print(
            f"\ngamma {GAMMA:g} down to {MIN_FEATURES} features, one repetition; networks with "
            f"150, 100 and 50 units, {args.epochs} epochs\n\n"
            "| model | models trained | training time (s) | whole run (s) | ratio "
            "| fraction spent on saliency |"
        )
        print(f"|{' --- |' * 6}")
        for name in args.models:
            print_run(name, args.epochs, X, y)


if __name__ == "__main__":
    main()
