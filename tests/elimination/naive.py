"""Naive elimination algorithms with scikit-learn SVMs and recomputed kernel matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

# Settings of scikit-learn's RFE, and those of the thesis: features are ranked once.
PLAIN: dict[str, Any] = {"step": 1, "class_weight": None, "standardize": False}
ONCE: dict[str, Any] = {
    **PLAIN,
    "repeat_in_folds": False,
    "scoring": "accuracy",
    "n_features_to_select": "smallest_best",
}


def naive_kernel(kernel: str, X, gamma: float, degree: int = 3, coef0: float = 0.0):
    settings = {"linear": {}, "rbf": {"gamma": gamma}}.get(kernel)
    if settings is None:
        settings = {"gamma": gamma, "coef0": coef0}
        if kernel == "poly":
            settings["degree"] = degree
    return pairwise_kernels(X, metric=kernel, filter_params=True, **settings)


def naive_cost_changes(kernel: str, X, coefficients, gamma: float, **settings):
    """Return the change of the SVM objective when each feature is removed from the kernel.

    The change is ``b'Kb/2 - b'K(-j)b/2``, with a recomputed kernel matrix ``K(-j)``.
    """

    def cost(columns):
        K = naive_kernel(kernel, X[:, columns], gamma, **settings)
        return 0.5 * sum(b @ K @ b for b in coefficients.T)

    features = np.arange(X.shape[1])
    total = cost(features)
    return np.array([total - cost(np.delete(features, j)) for j in features])


def naive_weights(model: SVC, X, y):
    """Return the squared weight of each feature in input space, summed over pairs of classes."""
    codes = np.unique(y, return_inverse=True)[1]
    support_codes = codes[model.support_]
    n_classes = len(model.classes_)
    total = np.zeros(X.shape[1])
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            # libsvm stores coefficients of class i vs. j in row j - 1, and of j vs. i in row i.
            b = np.where(support_codes == i, model.dual_coef_[j - 1], 0.0)
            b = b + np.where(support_codes == j, model.dual_coef_[i], 0.0)
            total += (b @ X[model.support_]) ** 2
    return total


def naive_scores(X, y, folds, kernel: str, costs: Sequence[float], class_weight=None):
    """Return the SVM accuracy on each fold for each value of C; shape (n_folds, n_costs)."""
    return np.array(
        [
            [
                _svc(kernel, X, C, class_weight).fit(X[train], y[train]).score(X[test], y[test])
                for C in costs
            ]
            for train, test in folds
        ]
    )


def _svc(kernel: str, X, C: float, class_weight=None) -> SVC:
    return SVC(kernel=kernel, C=C, gamma=1.0 / X.shape[1], tol=1e-6, class_weight=class_weight)


def naive_ebrfe(
    X, y, folds, *, n_candidates: int, kernel: str, costs: Sequence[float]
) -> Iterator[tuple[int | None, float, float]]:
    """Yield the removed feature, the score without it and the best C of each EBRFE step."""
    remaining = list(range(X.shape[1]))
    mean = np.round(naive_scores(X, y, folds, kernel, costs).mean(axis=0), 12)
    C = costs[int(mean.argmax())]
    yield None, float(mean.max()), C
    while len(remaining) > 1:
        part = X[:, remaining]
        weights = naive_weights(_svc(kernel, part, C).fit(part, y), part, y)
        candidates = [remaining[k] for k in np.argsort(weights, kind="stable")[:n_candidates]]
        results = []
        for feature in candidates:
            rest = [j for j in remaining if j != feature]
            mean = np.round(naive_scores(X[:, rest], y, folds, kernel, costs).mean(axis=0), 12)
            results.append((float(mean.max()), costs[int(mean.argmax())]))
        best = max(range(len(results)), key=lambda k: results[k][0])
        remaining.remove(candidates[best])
        score, C = results[best]
        yield candidates[best], score, C


def naive_margin_rfe(X, y, *, kernel: str, C: float, n_steps: int) -> list[int]:
    """Return the features removed by Guyon's criterion, with each kernel matrix recomputed."""
    remaining, dropped = list(range(X.shape[1])), []
    for _ in range(n_steps):
        part = X[:, remaining]
        model = _svc(kernel, part, C).fit(part, y)
        used = model.support_
        gamma = 1.0 / len(remaining)
        changes = naive_cost_changes(kernel, part[used], model.dual_coef_.T, gamma)
        dropped.append(remaining.pop(int(changes.argmin())))
    return dropped
