"""Tests of deep feature selection, on its own and in `SaliencySelector`."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_friedman1
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from allrelevant import (
    DeepFeatureSelection,
    InputError,
    NetworkClassifier,
    NetworkRegressor,
    SaliencySelector,
)
from allrelevant.saliency import as_differentiable
from allrelevant.saliency.deep_selection import _ranking
from allrelevant.saliency.networks.architectures import perceptron

from .single_precision import run_check
from .small_network import SmallNetwork

QUICK: dict[str, Any] = {
    "network": SmallNetwork(),
    "max_epochs": 10,
    "batch_size": 32,
    "learning_rate": 0.02,
    "random_state": 0,
}


@parametrize_with_checks(
    [
        DeepFeatureSelection(NetworkClassifier(**QUICK), n_features_to_select=1),
        DeepFeatureSelection(NetworkRegressor(**QUICK), penalty=1e-3, n_features_to_select=1),
    ]
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    run_check(check, estimator, monkeypatch)


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(300, n_features=12, noise=0.1, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def selection(friedman):
    net = NetworkRegressor(max_epochs=60, learning_rate=0.01, random_state=0)
    return DeepFeatureSelection(net, penalty=0.1).fit(*friedman)


def test_irrelevant_features_get_zero_weight(selection):
    assert set(np.argsort(selection.ranking_)[:4].tolist()) <= set(range(5))
    assert (selection.mask_[5:] == 0).sum() >= 5
    np.testing.assert_array_equal(selection.support_, selection.mask_ != 0)
    assert selection.n_features_ == np.count_nonzero(selection.mask_)


def test_features_with_zero_weight_have_no_gradient(friedman, selection):
    X, _ = friedman
    gradient = as_differentiable(selection).vjp(X, np.ones((len(X), 1)))
    np.testing.assert_array_equal(gradient.any(axis=0), selection.mask_ != 0)


def test_zero_weights_are_ranked_by_their_nonzero_steps():
    mask, steps = np.array([0.0, -0.5, 0.0, 0.2]), np.array([3, 9, 7, 9])
    assert _ranking(mask, steps).tolist() == [4, 1, 3, 2]


def test_n_features_to_select(friedman, selection):
    chosen = clone(selection).set_params(n_features_to_select=4).fit(*friedman)
    np.testing.assert_array_equal(chosen.support_, selection.ranking_ <= 4)
    assert chosen.transform(friedman[0]).shape == (300, 4)
    with pytest.raises(InputError, match="Cannot select 13 of 12 features"):
        clone(selection).set_params(n_features_to_select=13, estimator__max_epochs=1).fit(*friedman)


def test_select_a_different_number(friedman, selection):
    chosen = copy.deepcopy(selection)
    for n_features, number in ((3, 3), (0.5, 6), (12, 12)):
        assert chosen.select(n_features).transform(friedman[0]).shape == (300, number)
        np.testing.assert_array_equal(chosen.support_, selection.ranking_ <= number)
    np.testing.assert_array_equal(chosen.select().support_, selection.mask_ != 0)
    for wrong in (0, 13, 2.5, float("nan"), "3"):
        with pytest.raises(InputError, match="Cannot select"):
            chosen.select(wrong)


def test_network_by_name_depends_on_the_target(friedman):
    X, y = friedman
    numbers = DeepFeatureSelection("mlp", random_state=0).fit(X[:40], y[:40])
    assert isinstance(numbers.network_, NetworkRegressor)
    labels = np.where(y > y.mean(), "high", "low")
    classes = DeepFeatureSelection("mlp", random_state=0).fit(X[:40], labels[:40])
    assert isinstance(classes.network_, NetworkClassifier)
    assert set(classes.predict(X)) <= {"high", "low"}
    assert not is_classifier(numbers)
    assert not DeepFeatureSelection("mlp").requires_all_columns
    assert DeepFeatureSelection("cnn").requires_all_columns


def test_batch_normalization_cancels_the_scale_of_the_mask(friedman):
    """A smaller mask before batch normalization gives equal outputs and larger gradients."""
    torch.manual_seed(0)
    network, rows = perceptron(12, 2).double().train(), torch.from_numpy(friedman[0])

    def evaluate(scale):
        weight = torch.full((12,), scale, dtype=torch.float64, requires_grad=True)
        outputs = network(rows * weight)
        outputs[:, 0].square().sum().backward()
        return outputs.detach(), weight.grad

    for module in network.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.eps = 1e-12
    outputs, gradient = evaluate(1.0)
    shrunk_outputs, shrunk_gradient = evaluate(0.01)
    torch.testing.assert_close(shrunk_outputs, outputs)
    torch.testing.assert_close(shrunk_gradient, 100 * gradient)


def test_the_estimator_is_not_modified(friedman):
    net = NetworkRegressor(max_epochs=1)
    DeepFeatureSelection(net, random_state=3).fit(*friedman)
    assert net.mask_penalty is None
    assert net.random_state is None
    assert not hasattr(net, "module_")


def test_feature_names_of_the_output(friedman):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(friedman[0], columns=[f"f{j}" for j in range(12)])
    net = NetworkRegressor(max_epochs=2, random_state=0)
    selector = DeepFeatureSelection(net, n_features_to_select=3).set_output(transform="pandas")
    assert list(selector.fit(X, friedman[1]).transform(X)) == list(selector.get_feature_names_out())


def test_inside_the_saliency_selector(friedman):
    X, y = friedman
    net = NetworkRegressor(max_epochs=15, learning_rate=0.01)
    selector = SaliencySelector(
        DeepFeatureSelection(net, penalty=0.05),
        keep_fraction=0.5,
        n_repeats=1,
        n_features_to_select=5,
        standardize=False,
        random_state=0,
    ).fit(X, y)
    assert set(np.argsort(selector.ranking_)[:3].tolist()) <= set(range(5))
    assert isinstance(selector.estimator_, DeepFeatureSelection)


def test_other_models_raise(friedman):
    with pytest.raises(InputError, match="got SVC"):
        DeepFeatureSelection(SVC()).fit(*friedman)
