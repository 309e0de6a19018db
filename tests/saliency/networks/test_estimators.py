"""Tests that the network estimators pass scikit-learn's estimator checks."""

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import InputError, NetworkClassifier, NetworkRegressor

from ..single_precision import run_check
from ..small_network import SmallNetwork

QUICK: dict[str, Any] = {
    "max_epochs": 10,
    "batch_size": 32,
    "learning_rate": 0.02,
    "random_state": 0,
}


ESTIMATORS = [
    NetworkClassifier(**QUICK),
    NetworkClassifier(SmallNetwork(), mask_penalty=1e-4, balanced=False, **QUICK),
    NetworkRegressor(**QUICK),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    run_check(check, estimator, monkeypatch)


def test_a_single_class_raises():
    with pytest.raises(InputError, match="single class, 'a'"):
        NetworkClassifier().fit(np.eye(3), ["a"] * 3)
