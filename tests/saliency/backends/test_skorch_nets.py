"""Tests of skorch nets in `SaliencySelector`: rows, targets, shapes, seeds and gradients."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from skorch import NeuralNet, NeuralNetBinaryClassifier, NeuralNetClassifier, NeuralNetRegressor
from torch import nn

from allrelevant import InputError, SaliencySelector, explain
from allrelevant.exceptions import CheckpointError
from allrelevant.saliency import (
    CrossEntropyGain,
    ProbabilityGain,
    RegressionGain,
    as_differentiable,
)
from allrelevant.saliency.backends.skorch_nets import SkorchTrainer


class Net(nn.Module):
    def __init__(self, n_outputs=2, n_inputs=6, last=None):
        super().__init__()
        self.first = nn.Linear(n_inputs, 8)
        self.second = nn.Linear(8, n_outputs)
        self.last = nn.Identity() if last is None else last

    def forward(self, rows):
        return self.last(self.second(torch.tanh(self.first(rows))))


def quick(kind=NeuralNetClassifier, module=Net, **settings):
    defaults = {
        "max_epochs": 20,
        "batch_size": 16,
        "optimizer": torch.optim.Adam,
        "lr": 0.03,
        "iterator_train__shuffle": True,
        "train_split": None,
        "verbose": 0,
    }
    if kind is NeuralNetClassifier:
        defaults["criterion"] = nn.CrossEntropyLoss
    return kind(module, **(defaults | settings))


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(120, 6))


def selector(net, **settings):
    defaults = {
        "keep_fraction": 0.5,
        "n_repeats": 1,
        "random_state": 0,
        "n_features_to_select": 3,
        "standardize": False,
    }
    return SaliencySelector(net, **(defaults | settings))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inactive_columns_are_set_to_zero_in_the_precision_of_the_module(X, dtype):
    y = (X[:, 4] > 0).astype(int)
    found = selector(quick(), n_features_to_select=2).fit(X.astype(dtype), y)
    assert found.ranking_[4] == 1
    assert found.estimator_.net_.module_.first.weight.dtype == torch.float32
    assert found.estimator_.net_.module_.first.in_features == 6
    assert not found.explain(X[:3]).saliency[:, ~found.support_].any()


def test_a_double_precision_module_gets_double_precision_rows(X):
    class Double(Net):
        def __init__(self):
            super().__init__(1)
            self.double()

    found = selector(quick(NeuralNetRegressor, Double)).fit(X, X[:, 2])
    assert found.ranking_[2] == 1


def test_a_net_may_declare_that_columns_can_be_dropped(X):
    class AnyWidth(NeuralNetClassifier):
        requires_all_columns = False

    class SumNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.only = nn.Linear(1, 2)

        def forward(self, rows):
            widths.add(rows.shape[1])
            return self.only(rows.sum(dim=1, keepdim=True))

    widths: set[int] = set()
    net = quick(AnyWidth, SumNet, criterion=nn.CrossEntropyLoss)
    selector(net).fit(X, (X[:, 0] > 0).astype(int))
    assert widths == {6, 3}


def test_seeds_are_reproducible_and_torch_random_state_is_restored(X):
    y = (X[:, 0] > 0).astype(int)
    before = torch.get_rng_state()
    fits = [
        selector(quick(max_epochs=3), keep_fraction=0.0, n_repeats=2, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(fits[0].importances_, fits[1].importances_)
    assert (fits[0].importances_ != fits[2].importances_).any()
    # The result does not depend on the random state of the caller.
    torch.manual_seed(5)
    again = selector(quick(max_epochs=3), keep_fraction=0.0, n_repeats=2).fit(X, y)
    np.testing.assert_array_equal(fits[0].importances_, again.importances_)


@pytest.mark.parametrize("last", [None, nn.Flatten(0)])
def test_numeric_targets_have_the_shape_of_the_outputs(X, last):
    net = quick(NeuralNetRegressor, module__n_outputs=1, module__last=last)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch warns if shapes differ
        found = selector(net, keep_fraction=0.0).fit(X, 3 * X[:, 3] + 1)
    assert found.ranking_[3] == 1
    trained = SkorchTrainer(net, classes=False, random_state=0).fit(X, 3 * X[:, 3] + 1)
    assert np.abs(trained.predict(X) - 3 * X[:, 3] - 1).mean() < 0.5


def test_string_labels(X):
    labels = np.where(X[:, 1] > 0, "yes", "no")
    found = selector(quick(), n_features_to_select=1).fit(X, labels)
    assert found.get_support(indices=True).tolist() == [1]
    kept = np.where(found.support_, X, 0)
    assert (found.estimator_.predict(kept) == labels).mean() > 0.9
    assert set(found.explain(X[:5]).predicted) <= {"yes", "no"}


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
@pytest.mark.parametrize(
    ("criterion", "last"), [(nn.BCEWithLogitsLoss, None), (nn.BCELoss, nn.Sigmoid())]
)
def test_one_output_for_two_classes(X, labels, criterion, last):
    y = np.array(labels)[(X[:, 5] > 0).astype(int)]
    net = quick(
        NeuralNetBinaryClassifier, criterion=criterion, module__n_outputs=1, module__last=last
    )
    found = selector(net, keep_fraction=0.0, n_features_to_select=6).fit(X, y)
    assert found.ranking_[5] == 1
    trained = found.estimator_
    rows = X.astype(np.float32)
    np.testing.assert_array_equal(trained.predict(X), np.array(labels)[trained.net_.predict(rows)])
    outputs = as_differentiable(trained).outputs(X)
    module = trained.net_.module_(torch.from_numpy(rows)).detach().numpy()
    first = 1 - module if last else 0 * module
    np.testing.assert_allclose(outputs, np.hstack([first, module]), atol=1e-6)
    np.testing.assert_array_equal(explain(trained.net_, rows).predicted, trained.net_.predict(rows))


def test_single_output_with_three_classes_raises(X):
    net = quick(NeuralNetBinaryClassifier, module__n_outputs=1)
    with pytest.raises(InputError, match=r"requires two classes, but there are 3\. Use Neural"):
        selector(net).fit(X, np.arange(120) % 3)


def test_log_probabilities_are_treated_as_logits(X):
    net = quick(NeuralNet, criterion=nn.NLLLoss, module__last=nn.LogSoftmax(dim=1))
    y = (X[:, 0] > 0).astype(int)
    found = selector(net, keep_fraction=0.0).fit(X, y)
    assert found.ranking_[0] == 1
    assert isinstance(as_differentiable(found.estimator_).gain, CrossEntropyGain)


def test_net_in_a_pipeline_with_a_scaler_can_be_pickled(X):
    y = np.where(X[:, 2] > 0, "up", "down")
    found = selector(quick(), standardize=True).fit(100 * X, y)
    assert found.ranking_[2] == 1
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(
        copy.explain(100 * X[:4]).saliency, found.explain(100 * X[:4]).saliency
    )


class Detached(Net):
    def forward(self, rows):
        return super().forward(rows).detach()


class Two(Net):
    def forward(self, rows):
        return super().forward(rows), rows


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"module__n_inputs": 5}, r"in round 1 of 2 \(6 features\): .*rows with 6 features: mat1"),
        ({"module__n_outputs": 3}, r"returns shape \(2, 3\) for 2 rows, but the number of outputs"),
        ({"module": Detached}, "in round 1 of 2 .*does not require grad.*detach"),
        ({"device": "cuda:99"}, "in round 1 of 2 .*device='cuda:99' is not available"),
        ({"module": Two}, "Two returns a tuple of length 2, which has no gradients"),
    ],
)
def test_training_errors_are_reported_in_one_line(X, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        selector(quick(**settings)).fit(X, (X[:, 0] > 0).astype(int))
    assert "\n" not in str(caught.value)


def test_sparse_rows_raise(X):
    with pytest.raises(InputError, match=r"require dense rows\. Use X"):
        SkorchTrainer(quick()).fit(sp.csr_array(X), X[:, 0] > 0)


def test_keep_shape_false_with_a_net_that_requires_all_columns(X):
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match=r"on the 3 selected features: .*rows with 3"):
        selector(quick(max_epochs=1), keep_fraction=0.0, keep_shape=False).fit(X, y)


def test_a_regression_loss_determines_the_task(X):
    """A regression loss makes a NeuralNet a regressor, even if the target looks like classes."""
    net = quick(NeuralNet, criterion=nn.MSELoss, module__n_outputs=1)
    found = selector(net, keep_fraction=0.0).fit(X, X[:, 1].round())
    assert not hasattr(found, "classes_")
    assert np.argmin(found.ranking_) == 1


def test_a_checkpoint_with_different_initial_weights_raises(X, tmp_path):
    """A checkpoint cannot be resumed with a module that has different initial weights.

    Training starts from the weights of a module that is passed as an instance.
    """
    y = (X[:, 0] > 0).astype(int)
    options = {
        "keep_fraction": 0.5,
        "n_repeats": 1,
        "random_state": 0,
        "checkpoint": tmp_path / "run.ckpt",
    }
    module = Net()
    whole = SaliencySelector(quick(module=module), **options).fit(X, y)
    again = SaliencySelector(quick(module=module), **options).fit(X, y)
    np.testing.assert_array_equal(again.importances_, whole.importances_)
    with pytest.raises(CheckpointError, match="weights at the start"):
        SaliencySelector(quick(module=Net()), **options).fit(X, y)


def rows_and_classes():
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    return X, (X[:, 0] > 0).astype(np.int64)


@pytest.mark.parametrize(
    ("criterion", "last", "gain"),
    [
        (nn.CrossEntropyLoss, nn.Identity(), CrossEntropyGain),
        (nn.NLLLoss, nn.Softmax(dim=1), ProbabilityGain),
    ],
)
def test_the_loss_determines_the_kind_of_outputs(criterion, last, gain):
    X, y = rows_and_classes()
    module = nn.Sequential(nn.Linear(3, 2), last)
    net = NeuralNetClassifier(module, criterion=criterion, max_epochs=2, verbose=0)
    model = as_differentiable(net.fit(X, y))
    assert isinstance(model.gain, gain)
    with torch.no_grad():
        expected = net.module_.eval()(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(model.outputs(X), expected, atol=1e-6)


def test_gradients_of_a_regression_net():
    X, _ = rows_and_classes()
    net = NeuralNetRegressor(nn.Linear(3, 1), max_epochs=2, verbose=0)
    model = as_differentiable(net.fit(X, X[:, :1]))
    assert isinstance(model.gain, RegressionGain)
    slopes = model.vjp(X, np.ones((40, 1)))
    np.testing.assert_allclose(slopes, np.tile(net.module_.weight.detach(), (40, 1)), rtol=1e-6)


def test_unfitted_nets_and_unknown_losses_raise():
    net = NeuralNet(nn.Linear(3, 2), criterion=nn.MultiMarginLoss, verbose=0)
    with pytest.raises(InputError, match="not fitted"):
        as_differentiable(net)
    with pytest.raises(InputError, match="MultiMarginLoss"):
        as_differentiable(net.initialize())
