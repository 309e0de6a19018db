"""Evaluation of rankings by SVMs trained on the highest-ranked features."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .saliency_rankers import Ranking, rank
from .saliency_sets import COEF0, KERNELS, ChallengeSet

# {kernel: [(number of features, accuracy), ...]}
Accuracies = dict[str, list[tuple[int, float]]]


def subset_sizes(n_features: int) -> list[int]:
    """Return the subset sizes to evaluate: all up to 50, then each 2% larger than the last."""
    sizes = list(range(1, min(50, n_features) + 1))
    while sizes[-1] < n_features:
        sizes.append(min(n_features, max(sizes[-1] + 1, round(sizes[-1] * 1.02))))
    return sizes


@dataclass(frozen=True)
class Products:
    """Inner products of rows, computed over a subset of the features.

    Attributes
    ----------
    n_features : int
    train : ndarray of shape (n_train, n_train)
        Inner products of the training rows.
    test : ndarray of shape (n_test, n_train)
        Inner products of the test rows with the training rows.
    test_norms : ndarray of shape (n_test,)
        Squared norms of the test rows.
    """

    n_features: int
    train: np.ndarray
    test: np.ndarray
    test_norms: np.ndarray

    def kernels(self, kernel: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel matrices of training rows and of test rows with training rows."""
        train_norms = np.diag(self.train)
        return (
            self._kernel(kernel, self.train, train_norms, train_norms),
            self._kernel(kernel, self.test, self.test_norms, train_norms),
        )

    def _kernel(
        self, kernel: str, inner: np.ndarray, norms: np.ndarray, train_norms: np.ndarray
    ) -> Any:
        if kernel == "linear":
            return inner
        if kernel == "rbf":
            return np.exp(-(norms[:, None] + train_norms[None, :] - 2 * inner) / self.n_features)
        if kernel == "poly":
            return (inner / self.n_features + COEF0["poly"]) ** 3
        return np.tanh(inner / self.n_features + COEF0["sigmoid"])


def growing_products(data: ChallengeSet, order: np.ndarray) -> Iterator[Products]:
    """Yield the inner products over the highest-ranked features, for increasing sizes."""
    n_train, n_features = data.X.shape
    train, test = np.zeros((n_train, n_train)), np.zeros((len(data.y_test), n_train))
    test_norms, previous = np.zeros(len(data.y_test)), 0
    for size in subset_sizes(n_features):
        added = order[previous:size]
        X, X_test = data.X[:, added], data.X_test[:, added]
        train += dense(X @ X.T)
        test += dense(X_test @ X.T)
        test_norms += np.asarray((X_test * X_test).sum(axis=1)).ravel()
        previous = size
        yield Products(size, train, test, test_norms)


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else values


def evaluate(data: ChallengeSet, order: np.ndarray, kernels: Sequence[str] = KERNELS) -> Accuracies:
    """Return the test accuracy of an SVM with each kernel, for each subset size."""
    svms = {kernel: data.svm(kernel).set_params(kernel="precomputed") for kernel in kernels}
    accuracies: Accuracies = {kernel: [] for kernel in svms}
    for products in growing_products(data, order):
        for kernel, svm in svms.items():
            train, test = products.kernels(kernel)
            accuracy = (svm.fit(train, data.y).predict(test) == data.y_test).mean()
            accuracies[kernel].append((products.n_features, float(accuracy)))
    return accuracies


def judged_ranking(data: ChallengeSet, ranking: Ranking, seed: int = 0) -> dict[str, Any]:
    """Rank the features of a dataset, and evaluate the ranking with SVMs.

    Returns
    -------
    dict
        ``accuracy`` for each kernel and subset size, ``seconds`` of the ranking, and the other
        values that the ranking returns.
    """
    start = time.perf_counter()
    result = rank(data, ranking, seed)
    order = result.pop("order")
    result |= {"seconds": time.perf_counter() - start, "accuracy": evaluate(data, order)}
    if data.relevant is not None:
        result["relevant in the first 20"] = int(np.isin(order[:20], data.relevant).sum())
    return result


def best(accuracies: list[tuple[int, float]]) -> tuple[float, int]:
    """Return the highest accuracy in percent, and the smallest subset size that attains it."""
    size, accuracy = max(accuracies, key=lambda pair: (pair[1], -pair[0]))
    return 100 * accuracy, size
