"""Small fitted estimators of every task, for tests of their methods."""

from typing import Any

from allrelevant import (
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    SurvivalBounds,
)
from allrelevant.bounds.baseline import Tolerance
from allrelevant.datasets import (
    make_linear_classification,
    make_linear_regression,
    make_ordinal_classification,
    make_privileged,
    make_ranking,
    make_survival,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 4, "n_irrelevant": 2}


def classification(seed, **counts):
    data = make_linear_classification(36, flip=0.1, random_state=seed, **{**COUNTS, **counts})
    return ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)


def regression(seed):
    data = make_linear_regression(24, target_noise=0.3, random_state=seed, **COUNTS)
    return RegressionBounds(C=0.3, epsilon=0.1, cutoff=0.1).fit(data.X, data.y)


def ordinal(seed):
    data = make_ordinal_classification(30, n_classes=3, flip=0.1, random_state=seed, **COUNTS)
    return OrdinalBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)


def ranking(seed):
    data = make_ranking(24, positive=0.3, flip=0.1, random_state=seed, **COUNTS)
    return RankingBounds(C=10.0, cutoff=0.1).fit(data.X, data.y)


def survival(seed):
    data = make_survival(24, target_noise=0.3, random_state=seed, **COUNTS)
    return SurvivalBounds(C=10.0, cutoff=0.1).fit(data.X, data.y)


def privileged(seed):
    data = make_privileged(
        "classification",
        40,
        n_strong=1,
        n_weak=2,
        n_irrelevant=1,
        n_strong_privileged=1,
        n_weak_privileged=2,
        n_irrelevant_privileged=1,
        noise=0.1,
        random_state=seed,
    )
    return ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y, privileged=data.privileged)


FITTED = [classification, regression, ordinal, ranking, survival, privileged]


def make_tolerance(est):
    return Tolerance(est.norm_slack, est.loss_slack, est.loss_tol)
