"""Tests of specifying a network by name, by module and by function."""

import numpy as np
import pytest
import torch
from torch import nn

from allrelevant import InputError, NetworkClassifier, NetworkRegressor
from allrelevant.saliency.networks.catalog import has_fixed_inputs


def test_networks_that_require_all_columns():
    assert NetworkClassifier("cnn").requires_all_columns
    assert NetworkClassifier(nn.Linear(2, 2)).requires_all_columns
    assert not NetworkRegressor().requires_all_columns
    assert not has_fixed_inputs(lambda n_inputs, n_outputs: nn.Linear(n_inputs, n_outputs))


def test_a_module_is_copied_and_reinitialized():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    before = [p.detach().clone() for p in module.parameters()]
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    fits = [
        NetworkClassifier(module, max_epochs=1, random_state=seed).fit(X, y).predict_proba(X)
        for seed in (0, 0, 1)
    ]
    assert all(torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True))
    np.testing.assert_array_equal(fits[0], fits[1])
    assert np.abs(fits[0] - fits[2]).max() > 1e-3


class _WithoutReset(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 2))

    def forward(self, rows):
        return rows @ self.weight


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("resnet", "Unknown network 'resnet'"),
        (5, "got int"),
        (lambda n_inputs, n_outputs: "network", r"must return .* \(got str\)"),
        (_WithoutReset(), "no reset_parameters method"),
        (nn.Linear(3, 5), r"returns shape \(2, 5\)"),
        (nn.Linear(7, 2), "failed on rows with 3 features"),
    ],
)
def test_invalid_networks_raise(network, message):
    X, y = np.eye(3)[[0, 1, 2, 0]], [0, 1, 0, 1]
    with pytest.raises(InputError, match=message):
        NetworkClassifier(network).fit(X, y)
