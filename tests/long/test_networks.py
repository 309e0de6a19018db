"""Slow tests of networks: ten seeds of a toy problem, worker processes, residual networks."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from torch import nn

from allrelevant import NetworkClassifier, SaliencySelector, explain
from allrelevant.datasets import make_branches


def one_hidden_layer(n_inputs, n_outputs):
    return nn.Sequential(nn.Linear(n_inputs, 100), nn.ReLU(), nn.Linear(100, n_outputs))


@pytest.mark.parametrize("seed", range(10))
def test_explanations_find_three_features_per_branch_on_new_rows(seed):
    train, new = make_branches(random_state=seed), make_branches(random_state=1000 + seed)
    net = NetworkClassifier(
        one_hidden_layer, max_epochs=30, learning_rate=0.01, l2=1e-5, random_state=seed
    ).fit(train.X, train.y)
    values = explain(net, new.X, new.y).absolute
    for branch, deciding in ((new.X[:, 0] < 0, {0, 1, 2}), (new.X[:, 0] >= 0, {0, 3, 4})):
        assert set(np.argsort(-values[branch].mean(axis=0))[:3].tolist()) == deciding


def test_result_does_not_depend_on_n_jobs():
    X, y = make_classification(200, 12, n_informative=3, n_redundant=0, random_state=0)
    net = NetworkClassifier(max_epochs=10, learning_rate=0.01)
    selector = SaliencySelector(net, keep_fraction=0.5, n_repeats=2, random_state=0)
    alone = selector.fit(X, y).ranking_
    np.testing.assert_array_equal(selector.set_params(n_jobs=2).fit(X, y).ranking_, alone)


def test_wide_residual_network_generalizes():
    rng = np.random.default_rng(0)
    images, y = rng.uniform(size=(60, 8, 8)), np.arange(60) % 2
    images[y == 1, 2:6, 2:6] += 1.0
    X = images.reshape(60, 64)
    net = NetworkClassifier("wrn-16-4", max_epochs=15, batch_size=10, random_state=0)
    assert net.fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.9
