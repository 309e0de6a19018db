"""What a ranking is worth: SVMs trained on its first features, on subsets of growing size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .saliency_rankers import Ranking, ranked
from .saliency_sets import COEF0, KERNELS, ChallengeSet

# A sigmoid kernel with the gamma of the whole table: so small that tanh is close to linear.
FLAT = "flat sigmoid"

# {judge: [(number of features, accuracy), ...]}
Accuracies = dict[str, list[tuple[int, float]]]


def judges_of(name: str) -> dict[str, str]:
    """Who judges rankings of a set: names of judges and their kernels.

    Gamma is one over the number of features judged. On MADELON a second sigmoid kernel has that of
    all features: only so a sigmoid kernel is as accurate there as one the paper reports.
    """
    judges = {kernel: kernel for kernel in KERNELS}
    return judges | {FLAT: "sigmoid"} if name == "madelon" else judges


def sizes_to_judge(n_rows: int, n_features: int) -> list[int]:
    """Every size up to 50, then in steps: larger ones where rows are many and judging slow.

    Of 2 %, and 10 % with MADELON.
    """
    step = 1.02 if n_rows <= 1_000 else 1.1
    sizes = list(range(1, min(50, n_features) + 1))
    while sizes[-1] < n_features:
        sizes.append(min(n_features, max(sizes[-1] + 1, round(sizes[-1] * step))))
    return sizes


@dataclass(frozen=True)
class Products:
    """Inner products over some features, of training rows and of test rows with them.

    ``scale`` is one over gamma: the number of features, and times their variance if so asked for;
    ``scale_of_whole`` is that of all features.
    """

    n_features: int
    train: np.ndarray
    test: np.ndarray
    test_lengths: np.ndarray
    scale: float
    scale_of_whole: float

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
            return np.exp(-(rows[:, None] + own[None, :] - 2 * inner) / self.scale)
        if judge == "poly":
            return (inner / self.scale + COEF0["poly"]) ** 3
        scale = self.scale_of_whole if judge == FLAT else self.scale
        return np.tanh(inner / scale + COEF0["sigmoid"])


def growing_products(data: ChallengeSet, order: np.ndarray) -> Iterator[Products]:
    """Over the first features of a ranking, from one size to the next."""
    n_train, n_features = data.X.shape
    train, test = np.zeros((n_train, n_train)), np.zeros((len(data.y_test), n_train))
    lengths, total, before = np.zeros(len(data.y_test)), 0.0, 0
    for size in sizes_to_judge(n_train, n_features):
        own, other = data.X[:, order[before:size]], data.X_test[:, order[before:size]]
        train += dense(own @ own.T)
        test += dense(other @ own.T)
        lengths += np.asarray((other * other).sum(axis=1)).ravel()
        total += float(own.sum())
        before = size
        variance = np.trace(train) / (n_train * size) - (total / (n_train * size)) ** 2
        scale = size if data.factor == "auto" else size * variance
        # Where the variance counts, that of the whole table is one: see how tables are loaded.
        yield Products(size, train, test, lengths, scale, scale_of_whole=n_features)


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else values


def judged(data: ChallengeSet, order: np.ndarray) -> Accuracies:
    """Accuracy of each judge at each size."""
    machines = {
        judge: data.machine(kernel).set_params(kernel="precomputed")
        for judge, kernel in judges_of(data.name).items()
    }
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
