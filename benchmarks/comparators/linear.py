"""Linear models that select each feature whose absolute weight exceeds a cutoff.

Grids start with the strongest penalty, so that ties are resolved in favor of the sparser model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNetCV, LassoCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .interface import Chosen, Classes, Comparator, Table

Cutoff = Callable[[np.ndarray], Any]

C_VALUES = np.logspace(-3, 3, 13)


def tiny(_: np.ndarray) -> float:
    """Return 1e-5, the cutoff on absolute weights of Göpfert et al. (2018).

    Göpfert et al. (2017) use it for models with an L1 penalty alone.
    """
    return 1e-5


def mean(weights: np.ndarray) -> float:
    """Return the mean absolute weight, a cutoff used by Göpfert et al. (2017).

    They use it for the L2-SVM and the elastic net.
    """
    return float(weights.mean())


def svm_weights(X: Table, y: Classes, folds: StratifiedKFold, *, penalty: str) -> np.ndarray:
    svm = LinearSVC(penalty=penalty, dual=False, max_iter=5_000, random_state=0)
    return GridSearchCV(svm, {"C": C_VALUES}, cv=folds).fit(X, y).best_estimator_.coef_[0]


def lasso_weights(X: Table, y: Classes, folds: StratifiedKFold) -> np.ndarray:
    return LassoCV(cv=list(folds.split(X, y))).fit(X, y).coef_


def elastic_net_weights(X: Table, y: Classes, folds: StratifiedKFold) -> np.ndarray:
    ratios = [0.1, 0.5, 0.7, 0.9, 0.95, 0.99]
    return ElasticNetCV(l1_ratio=ratios, cv=list(folds.split(X, y))).fit(X, y).coef_


def select_above(
    X: Table, y: Classes, *, folds: int, seed: int, weights: Callable[..., Any], cutoff: Cutoff
) -> Chosen:
    """Select the features whose absolute weight in a linear model exceeds the cutoff."""
    scaled = StandardScaler().fit_transform(X)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # at weak penalties
        absolute = np.abs(weights(scaled, y, splits))
    return absolute > cutoff(absolute)


def ridge(cutoff: Cutoff) -> Comparator:
    """Return a function that selects features by a linear SVM with an L2 penalty.

    Göpfert et al. (2018) call this method Ridge.
    """
    return partial(select_above, weights=partial(svm_weights, penalty="l2"), cutoff=cutoff)


def l1_svm(cutoff: Cutoff = tiny) -> Comparator:
    return partial(select_above, weights=partial(svm_weights, penalty="l1"), cutoff=cutoff)


def lasso(cutoff: Cutoff = tiny) -> Comparator:
    return partial(select_above, weights=lasso_weights, cutoff=cutoff)


def elastic_net(cutoff: Cutoff) -> Comparator:
    return partial(select_above, weights=elastic_net_weights, cutoff=cutoff)
