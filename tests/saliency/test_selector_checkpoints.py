"""Tests of reproducible seeds, and of resuming runs with newly created objects."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from torch import nn

from allrelevant import NetworkClassifier, SaliencySelector
from allrelevant.exceptions import CheckpointError
from allrelevant.saliency import CrossEntropyGain
from allrelevant.saliency.rounds import Rounds


class CustomGain(CrossEntropyGain):
    def __init__(self, name):
        self.name = name


def network(width):
    def factory(n_inputs, n_outputs):
        return nn.Sequential(nn.Linear(n_inputs, width), nn.ReLU(), nn.Linear(width, n_outputs))

    return factory


def layer(n_inputs, n_outputs, bias):
    return nn.Linear(n_inputs, n_outputs, bias)


@pytest.fixture(scope="module")
def table():
    return make_classification(80, 6, n_informative=3, n_redundant=0, random_state=0)


def make_selector(path, **changes):
    """Return a selector made of newly created objects, as in a different process."""
    settings = {
        "estimator": NetworkClassifier(network(4), max_epochs=2),
        "keep_fraction": 0.5,
        "n_repeats": 1,
        "gain": CustomGain("a"),
        "random_state": np.random.RandomState(0),
        "checkpoint": path,
    }
    return SaliencySelector(**(settings | changes))


def test_equal_functions_random_states_and_gains_resume(table, tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    whole = make_selector(path).fit(*table)
    rounds = []
    monkeypatch.setattr(Rounds, "_round", lambda *round_: rounds.append(round_))
    again = make_selector(path).fit(*table)
    np.testing.assert_array_equal(again.importances_, whole.importances_)
    quiet = NetworkClassifier(network(4), max_epochs=2, verbose=0, n_threads=1, device="cpu")
    make_selector(path, estimator=quiet, verbose=0, n_jobs=1).fit(*table)
    assert not rounds


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"estimator": NetworkClassifier(network(5), max_epochs=2)}, "estimator__network"),
        ({"estimator": NetworkClassifier(partial(layer, bias=True))}, "estimator__network"),
        ({"gain": CustomGain("b")}, "gain"),
        ({"random_state": np.random.RandomState(1)}, "random_state"),
    ],
)
def test_different_settings_raise(table, tmp_path, changes, setting):
    path = tmp_path / "run.ckpt"
    make_selector(path, keep_fraction=0.0).fit(*table)
    with pytest.raises(CheckpointError, match=f"different .*{setting}"):
        make_selector(path, keep_fraction=0.0, **changes).fit(*table)


def test_the_random_state_of_the_estimator_is_used(table):
    def importances(seed, selector_seed=None):
        net = NetworkClassifier(network(4), max_epochs=2, random_state=seed)
        selector = SaliencySelector(net, keep_fraction=0.0, n_repeats=2, random_state=selector_seed)
        return selector.fit(*table).importances_

    np.testing.assert_array_equal(importances(0), importances(0))
    assert (importances(0) != importances(1)).any()
    # The random_state of the selector takes precedence.
    np.testing.assert_array_equal(importances(0, selector_seed=3), importances(1, selector_seed=3))
