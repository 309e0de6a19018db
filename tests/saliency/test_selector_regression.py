"""Tests of rankings for regression: agreement with the paper, target units, invalid targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

from allrelevant import InputError, SaliencySelector
from allrelevant.saliency import RegressionGain, as_differentiable

from .naive import PAPER, naive_ranking


def train_svr(X, y):
    """Fit an SVR; return the gradient of equation 7 and the inverse mean absolute error."""
    model = SVR(kernel="rbf", gamma=0.1).fit(X, y)

    def gradient(x, target):
        difference = x - model.support_vectors_
        kernel = np.exp(-0.1 * (difference**2).sum(axis=1)) * model.dual_coef_[0]
        error = kernel.sum() + model.intercept_[0] - target
        return -2 * error / (error**2 + 1e-3) ** 2 * (-0.2 * kernel @ difference)

    return gradient, 1 / np.abs(model.predict(X) - y).mean()


def test_regression_ranking_equals_the_paper() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 2] + X[:, 5] ** 2 + 0.1 * rng.normal(size=60)
    gain = RegressionGain(unit=1.0)
    found = SaliencySelector(SVR(gamma=0.1), **PAPER, keep_fraction=0.7, gain=gain).fit(X, y)
    assert found.scoring_ == "r2"
    assert found.held_out_score_.score > 0.5 > 0 >= found.held_out_score_.constant
    assert np.argsort(found.ranking_).tolist() == naive_ranking(
        train_svr, X, y, gamma=0.7, classes=False
    )
    assert set(np.argsort(found.ranking_).tolist()[:2]) == {2, 5}
    assert not hasattr(found, "classes_")


class UnitRegressor(RegressorMixin, BaseEstimator):
    """Regressor that divides the target by a unit before training."""

    def __init__(self, model: Any, unit: float) -> None:
        self.model = model
        self.unit = unit

    def fit(self, X: Any, y: Any) -> UnitRegressor:
        self.inner_ = as_differentiable(clone(self.model).fit(X, y / self.unit))
        self.gain = self.inner_.gain
        return self

    def outputs(self, X: Any) -> Any:
        return self.unit * self.inner_.outputs(X)

    def vjp(self, X: Any, output_gradient: Any) -> Any:
        return self.inner_.vjp(X, self.unit * output_gradient)


@pytest.mark.parametrize("model", [Ridge(), MLPRegressor(hidden_layer_sizes=(10,), max_iter=50)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ranking_does_not_depend_on_the_unit_of_the_target(model: Any) -> None:
    """The ranking does not depend on the unit of the target.

    The inner model is the same for both units, so only the gain depends on the unit.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 2] + X[:, 5] ** 2 + 0.5 * rng.normal(size=80)
    one, thousand = (
        SaliencySelector(UnitRegressor(model, unit), keep_fraction=0.0, random_state=0).fit(
            X, unit * y
        )
        for unit in (1.0, 1000.0)
    )
    np.testing.assert_allclose(one.importances_, thousand.importances_)
    row = one.explain(X, y).saliency
    np.testing.assert_allclose(row, thousand.explain(X, 1000.0 * y).saliency, atol=1e-9 * row.max())


@pytest.mark.parametrize("factor", [0.0, 1e-200, 1e200])
def test_invalid_numeric_targets_raise(factor: float) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(InputError, match=r"single value|too large|too small"):
        SaliencySelector(Ridge()).fit(X, factor * X[:, 0])


def test_network_by_name_treats_many_integers_as_numeric() -> None:
    pytest.importorskip("torch")
    X = np.random.default_rng(0).normal(size=(100, 4))
    y = (100 * X[:, 1]).round().astype(int)
    found = SaliencySelector("mlp", keep_fraction=0.0, n_repeats=1, random_state=0).fit(X, y)
    assert type(found.estimator_[-1]).__name__ == "NetworkRegressor"
    found.fit(X, y > 0)
    assert type(found.estimator_[-1]).__name__ == "NetworkClassifier"
