"""Tests of networks in `SaliencySelector`: dropped columns, zeroed pixels and errors."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from torch import nn

from allrelevant import InputError, NetworkClassifier, SaliencySelector, explain
from allrelevant.datasets import make_branches

from ..small_network import SmallNetwork


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        200, 12, n_informative=3, n_redundant=0, class_sep=2, shuffle=False, random_state=0
    )
    return X, y


def test_informative_features_are_selected(table):
    X, y = table
    net = NetworkClassifier(max_epochs=10, learning_rate=0.01)
    selector = SaliencySelector(
        net, keep_fraction=0.5, n_repeats=2, n_features_to_select=3, random_state=0
    )
    selector.fit(X, y)
    assert set(selector.get_support(indices=True)) == {0, 1, 2}


def test_inactive_pixels_of_images_are_set_to_zero():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(60, 36)), np.arange(60) % 2
    X[:, 14] = y + 0.1 * rng.uniform(size=60)
    net = NetworkClassifier("cnn", max_epochs=4, batch_size=20, learning_rate=0.01, n_threads=1)
    selector = SaliencySelector(
        net,
        keep_fraction=0.3,
        n_repeats=1,
        min_features_to_select=4,
        n_features_to_select=9,
        standardize=False,
        random_state=0,
    ).fit(X, y)
    assert selector.ranking_[14] <= 2
    assert selector.estimator_.n_features_in_ == 36
    assert not selector.explain(X[:3], y[:3]).saliency[:, ~selector.support_].any()


def test_network_as_a_module_or_an_unknown_name(table):
    X, y = table
    module = nn.Linear(12, 2)
    selector = SaliencySelector(
        module, keep_fraction=0.0, n_repeats=1, n_features_to_select=6, random_state=0
    ).fit(X, y)
    network = selector.estimator_[-1]
    assert isinstance(network, NetworkClassifier)
    assert network.network is not network.module_.network
    with pytest.raises(InputError, match="Unknown network 'perceptron'"):
        SaliencySelector("perceptron", keep_fraction=0.0, n_repeats=1).fit(X, y)


def test_diverging_loss_reports_the_round_and_the_cause(table):
    X, y = table
    net = NetworkClassifier(learning_rate=1e30, max_epochs=5)
    with pytest.raises(InputError, match=r"in round 1 of .*The loss became .* in epoch \d+: "):
        SaliencySelector(net, n_repeats=1, random_state=0).fit(X, y)


class InvalidNetwork(nn.Module):
    """Network whose outputs have no gradients or the wrong type."""

    def __init__(self, how):
        super().__init__()
        self.inner = nn.Linear(12, 2)
        self.how = how

    def forward(self, rows):
        return self.how(self.inner(rows))


def frozen():
    return nn.Linear(12, 2).requires_grad_(False)


@pytest.mark.parametrize("mask_penalty", [None, 0.1])
@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            InvalidNetwork(lambda outputs: outputs.detach()),
            r"InvalidNetwork have no gradient .* weights\. .*detach",
        ),
        (
            InvalidNetwork(lambda outputs: (outputs, 1)),
            "InvalidNetwork returns a tuple of length 2, which has no gradients",
        ),
        (frozen(), "Linear has no weights, or all"),
        (
            nn.Sequential(nn.Linear(12, 2)).requires_grad_(False),
            "Sequential has no weights, or all",
        ),
        (lambda n_inputs: nn.Linear(n_inputs, 2), "must take either two arguments"),
    ],
)
def test_training_errors_are_reported_in_one_line(table, network, message, mask_penalty):
    X, y = table
    net = NetworkClassifier(network, mask_penalty=mask_penalty)
    with pytest.raises(InputError, match=message) as caught:
        net.fit(X, y)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=f"^Training failed in round 1 of .*{message}"):
        SaliencySelector(net, n_repeats=1).fit(X, y)


def test_a_factory_without_arguments_makes_a_network_of_fixed_width(table):
    X, y = table
    net = NetworkClassifier(lambda: nn.Linear(12, 2), max_epochs=2)
    assert net.requires_all_columns
    found = SaliencySelector(net, keep_fraction=0.5, n_repeats=1, random_state=0).fit(X, y)
    assert found.estimator_.n_features_in_ == 12


def test_saliency_finds_the_three_features_of_each_branch():
    train, new = make_branches(3000, random_state=0), make_branches(2000, random_state=1)
    net = NetworkClassifier(SmallNetwork(), max_epochs=20, learning_rate=0.03, random_state=0)
    net.fit(train.X, train.y)
    values = explain(net, new.X, new.y).absolute
    for branch, relevant in ((new.X[:, 0] < 0, {0, 1, 2}), (new.X[:, 0] >= 0, {0, 3, 4})):
        assert set(np.argsort(-values[branch].mean(axis=0))[:3].tolist()) == relevant


def test_torch_is_imported_late_and_the_error_names_the_extra():
    script = """
import sys
import allrelevant
assert "torch" not in sys.modules and "sklearn" not in sys.modules
allrelevant.NetworkClassifier, allrelevant.DeepFeatureSelection, allrelevant.robustness
assert "torch" not in sys.modules and "matplotlib" not in sys.modules
sys.modules["torch"] = None
X, y = [[0.0], [1.0]], [0, 1]
for use in (
    lambda: allrelevant.NetworkClassifier().fit(X, y),
    lambda: allrelevant.SaliencySelector(lambda inputs, outputs: None).fit(X, y),
    lambda: __import__("allrelevant.saliency.backends.torch_modules"),
):
    try:
        use()
    except allrelevant.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    message = "This operation requires torch. Install it with: pip install 'allrelevant[networks]'."
    assert done.stdout.splitlines() == [message] * 3
