"""What a ranking is worth: SVMs trained on its first features, on subsets of growing size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .saliency_rankers import Ranking, ranked
from .saliency_sets import COEF0, KERNELS, ChallengeSet

# {judge: [(number of features, accuracy), ...]}
Accuracies = dict[str, list[tuple[int, float]]]


def sizes_to_judge(n_features: int) -> list[int]:
    """Every size up to 50, then in steps of 2 %."""
    sizes = list(range(1, min(50, n_features) + 1))
    while sizes[-1] < n_features:
        sizes.append(min(n_features, max(sizes[-1] + 1, round(sizes[-1] * 1.02))))
    return sizes


@dataclass(frozen=True)
class Products:
    """Inner products over some features, of training rows and of test rows with them."""

    n_features: int
    train: np.ndarray
    test: np.ndarray
    test_lengths: np.ndarray

    def kernels(self, judge: str) -> tuple[np.ndarray, np.ndarray]:
        """The kernel among training rows, and of test rows with them."""
        own = np.diag(self.train)
        return (
            self._kernel(judge, self.train, own, own),
            self._kernel(judge, self.test, self.test_lengths, own),
        )

    def _kernel(self, judge: str, inner: np.ndarray, rows: np.ndarray, own: np.ndarray) -> Any:
        if judge == "linear":
            return inner
        if judge == "rbf":
            return np.exp(-(rows[:, None] + own[None, :] - 2 * inner) / self.n_features)
        if judge == "poly":
            return (inner / self.n_features + COEF0["poly"]) ** 3
        return np.tanh(inner / self.n_features + COEF0["sigmoid"])


def growing_products(data: ChallengeSet, order: np.ndarray) -> Iterator[Products]:
    """Over the first features of a ranking, from one size to the next."""
    n_train, n_features = data.X.shape
    train, test = np.zeros((n_train, n_train)), np.zeros((len(data.y_test), n_train))
    lengths, before = np.zeros(len(data.y_test)), 0
    for size in sizes_to_judge(n_features):
        own, other = data.X[:, order[before:size]], data.X_test[:, order[before:size]]
        train += dense(own @ own.T)
        test += dense(other @ own.T)
        lengths += np.asarray((other * other).sum(axis=1)).ravel()
        before = size
        yield Products(size, train, test, lengths)


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else values


def judged(data: ChallengeSet, order: np.ndarray, judges: Sequence[str] = KERNELS) -> Accuracies:
    """Accuracy of each judge at each size."""
    machines = {judge: data.machine(judge).set_params(kernel="precomputed") for judge in judges}
    found: Accuracies = {judge: [] for judge in machines}
    for products in growing_products(data, order):
        for judge, svc in machines.items():
            train, test = products.kernels(judge)
            accuracy = (svc.fit(train, data.y).predict(test) == data.y_test).mean()
            found[judge].append((products.n_features, float(accuracy)))
    return found


def judged_ranking(data: ChallengeSet, ranking: Ranking, seed: int = 0) -> dict[str, Any]:
    """Rank, and judge.

    Returns
    -------
    dict
        ``accuracy``: of each judge at each size; ``seconds`` and what else the ranking took.
    """
    start = time.perf_counter()
    found = ranked(data, ranking, seed)
    order = found.pop("order")
    found |= {"seconds": time.perf_counter() - start, "accuracy": judged(data, order)}
    if data.relevant is not None:
        found["relevant in the first 20"] = int(np.isin(order[:20], data.relevant).sum())
    return found


def best(of_judge: list[tuple[int, float]]) -> tuple[float, int]:
    """Highest accuracy in percent, and the smallest size that has it."""
    size, accuracy = max(of_judge, key=lambda pair: (pair[1], -pair[0]))
    return 100 * accuracy, size
