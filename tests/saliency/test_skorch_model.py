"""Gradients of trained skorch nets."""

import numpy as np
import pytest
import skorch
import torch
from torch import nn

from allrelevant import InputError
from allrelevant.saliency import (
    CrossEntropyGain,
    ProbabilityGain,
    RegressionGain,
    as_differentiable,
)


def table():
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return X, (X[:, 0] > 0).astype(np.int64)


@pytest.mark.parametrize(
    ("criterion", "last", "gain"),
    [
        (nn.CrossEntropyLoss, nn.Identity(), CrossEntropyGain),
        (nn.NLLLoss, nn.Softmax(dim=1), ProbabilityGain),
    ],
)
def test_the_loss_says_what_the_outputs_are(criterion, last, gain):
    X, y = table()
    module = nn.Sequential(nn.Linear(3, 2), last)
    net = skorch.NeuralNetClassifier(module, criterion=criterion, max_epochs=2, verbose=0)
    model = as_differentiable(net.fit(X, y))
    assert isinstance(model.gain, gain)
    with torch.no_grad():
        expected = net.module_.eval()(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(model.outputs(X), expected, atol=1e-6)


def test_numbers():
    X, _ = table()
    net = skorch.NeuralNetRegressor(nn.Linear(3, 1), max_epochs=2, verbose=0)
    model = as_differentiable(net.fit(X, X[:, :1]))
    assert isinstance(model.gain, RegressionGain)
    slopes = model.vjp(X, np.ones((40, 1)))
    np.testing.assert_allclose(slopes, np.tile(net.module_.weight.detach(), (40, 1)), rtol=1e-6)


def test_what_is_not_known_is_refused():
    net = skorch.NeuralNet(nn.Linear(3, 2), criterion=nn.MultiMarginLoss, verbose=0)
    with pytest.raises(InputError, match="not fitted"):
        as_differentiable(net)
    with pytest.raises(InputError, match="MultiMarginLoss"):
        as_differentiable(net.initialize())
