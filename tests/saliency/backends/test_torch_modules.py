"""Tests of gradients of PyTorch modules, and that the modules are not modified."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from allrelevant import InputError, NetworkClassifier
from allrelevant.saliency import (
    CrossEntropyGain,
    ProbabilityGain,
    aggregate_batches,
    aggregate_saliency,
    as_differentiable,
    saliency,
)
from allrelevant.saliency.backends.torch_modules import TorchModel

from ..differences import central_differences


def smooth_network(n_inputs=4, n_outputs=3, *after):
    """Return a smooth network in double precision, for accurate finite differences."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(n_inputs, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, n_outputs), *after
    ).double()


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(7, 4)), np.array([0, 1, 2, 2, 1, 0, 1])


def test_equals_the_closed_form_of_the_same_logistic_regression():
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(max_iter=500).fit(X, y)
    module = nn.Linear(4, 3).double()
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(fitted.coef_))
        module.bias.copy_(torch.from_numpy(fitted.intercept_))
    closed_form, torch_model = as_differentiable(fitted), TorchModel(module, outputs="logits")
    np.testing.assert_allclose(
        saliency(torch_model, X, y, CrossEntropyGain()),
        saliency(closed_form, X, y, CrossEntropyGain()),
        rtol=1e-9,
        atol=1e-12,
    )


def test_equals_the_closed_form_of_the_same_ridge_regression():
    X, y = load_iris(return_X_y=True)
    fitted = Ridge().fit(X, y)
    module = nn.Linear(4, 1).double()
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(fitted.coef_[None]))
        module.bias.fill_(float(fitted.intercept_))
    model = TorchModel(module, outputs="numbers")
    np.testing.assert_allclose(
        saliency(model, X, y), saliency(as_differentiable(fitted), X, y), rtol=1e-7
    )


@pytest.mark.parametrize(
    ("after", "kind"), [((), "logits"), ((nn.Softmax(dim=1),), "probabilities")]
)
def test_equals_finite_differences_of_the_gain(rows, after, kind):
    X, y = rows
    model = TorchModel(smooth_network(4, 3, *after), outputs=kind)
    expected = central_differences(lambda Z: model.gain.value(model.outputs(Z), y), X)
    np.testing.assert_allclose(saliency(model, X, y), expected, atol=1e-8)


def test_logits_and_probabilities_of_one_network_give_the_same_saliency(rows):
    X, y = rows
    logits = TorchModel(smooth_network(), outputs="logits")
    softmax = TorchModel(smooth_network(4, 3, nn.Softmax(dim=1)), outputs="probabilities")
    assert isinstance(softmax.gain, ProbabilityGain)
    np.testing.assert_allclose(saliency(logits, X, y), saliency(softmax, X, y), rtol=1e-9)


def test_the_module_is_not_modified(rows):
    X, y = rows
    module = smooth_network(4, 3)
    module[1].eval()  # one submodule in evaluation mode, the others not
    module[3].weight.requires_grad_(False)
    module(torch.from_numpy(X)).sum().backward()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    gradients = [None if p.grad is None else p.grad.clone() for p in module.parameters()]
    modes = [part.training for part in module.modules()]
    kept = X.copy()

    model = TorchModel(module, outputs="logits", batch_size=3)
    with torch.no_grad():  # as in a caller's evaluation
        saliency(model, X, y)
        model.linearize(X[:3]).vjp(np.ones((3, 3)))

    assert [part.training for part in module.modules()] == modes
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    for old, parameter in zip(gradients, module.parameters(), strict=True):
        assert (old is None) == (parameter.grad is None)
        assert old is None or torch.equal(old, parameter.grad)
    assert not module[3].weight.requires_grad
    np.testing.assert_array_equal(X, kept)


def test_modes_are_restored_after_an_error(rows):
    module = nn.Sequential(nn.Dropout(), nn.Linear(3, 2))
    with pytest.raises(InputError, match="Sequential failed on rows with 4 features: mat1"):
        TorchModel(module, outputs="logits").outputs(rows[0])
    assert all(part.training for part in module.modules())


@pytest.mark.parametrize("batch_size", [1, 3, 7, 100])
def test_batch_size_does_not_change_the_result(rows, batch_size):
    X, y = rows
    whole = saliency(TorchModel(smooth_network(), outputs="logits"), X, y)
    model = TorchModel(smooth_network(), outputs="logits", batch_size=batch_size)
    np.testing.assert_allclose(saliency(model, X, y), whole, rtol=1e-12)
    np.testing.assert_allclose(saliency(model, sp.csr_array(X), y), whole, rtol=1e-12)


def test_data_loader_gives_the_same_result_as_the_table(rows):
    X, y = rows
    model = TorchModel(smooth_network(), outputs="logits")
    loader = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(y)), batch_size=2)
    streamed = aggregate_batches(model, loader, n_classes=3)
    at_once = aggregate_saliency(model, X, y, n_classes=3)
    np.testing.assert_allclose(streamed.saliency, at_once.saliency, rtol=1e-12)
    assert streamed.score == at_once.score


def test_images_are_reshaped_for_the_module():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)).double()
    X = np.random.default_rng(0).normal(size=(5, 16))
    model = TorchModel(module, outputs="logits", input_shape=(1, 4, 4))
    expected = central_differences(lambda Z: model.outputs(Z)[:, 1], X)
    aim = np.tile([0.0, 1.0], (5, 1))
    np.testing.assert_allclose(model.vjp(X, aim), expected, atol=1e-9)


def test_images_of_the_wrong_shape_raise():
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    X = np.zeros((5, 16))
    with pytest.raises(
        InputError, match=r"rows with 16 features: .* images\. .* input_shape"
    ) as at:
        TorchModel(module, outputs="logits").outputs(X)
    assert "\n" not in str(at.value)
    with pytest.raises(InputError, match="requires 25 features, but rows have 16"):
        TorchModel(module, outputs="logits", input_shape=(1, 5, 5)).outputs(X)


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_an_unavailable_device_raises(device):
    with pytest.raises(InputError, match=rf"^device='{device}' is not available: .*device=None"):
        TorchModel(smooth_network(), outputs="logits", device=device)
    with pytest.raises(InputError, match=f"^device='{device}' is not available"):
        NetworkClassifier(device=device).fit([[0.0], [1.0]], [0, 1])


def test_out_of_memory_is_not_reported_as_a_wrong_shape(rows):
    def greedy(outputs):
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match=r"^out of memory"):
        TorchModel(_Broken(greedy), outputs="logits").outputs(rows[0])


def test_a_factory_makes_the_module(rows):
    model = TorchModel(smooth_network, outputs="logits")
    assert model.outputs(rows[0]).shape == (7, 3)


def test_a_single_output_may_be_flat(rows):
    model = TorchModel(smooth_network(4, 1, nn.Flatten(0)), outputs="numbers")
    assert model.outputs(rows[0]).shape == (7, 1)
    assert model.vjp(rows[0], np.ones((7, 1))).shape == (7, 4)


class _Broken(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.how = how

    def forward(self, rows):
        return self.how(self.inner(rows))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda outputs: outputs.argmax(dim=1), "floating-point tensor"),
        (lambda outputs: outputs.detach(), "no gradient with respect to its inputs"),
        (lambda outputs: outputs[None], "shape"),
        (lambda outputs: (outputs, outputs), r"^_Broken returns a tuple of length 2, which .*\.$"),
    ],
)
def test_modules_without_gradients_raise(rows, how, message):
    model = TorchModel(_Broken(how), outputs="logits")
    with pytest.raises(InputError, match=message):
        model.vjp(rows[0], np.ones((7, 3)))


def test_a_wrong_number_of_outputs_raises(rows):
    X, y = rows
    model = TorchModel(smooth_network(4, 2), outputs="logits")
    with pytest.raises(InputError, match="2 outputs, but there are 3 classes"):
        saliency(model, X, y)
    with pytest.raises(InputError, match="2 outputs, but 5 were expected"):
        model.vjp(X, np.ones((7, 5)))


def test_the_kind_of_outputs_is_required():
    with pytest.raises(InputError, match="Wrap the module"):
        as_differentiable(smooth_network())
    with pytest.raises(InputError, match="outputs must be one of"):
        TorchModel(smooth_network(), outputs="scores")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"nn\.Module or a function"):
        TorchModel("mlp", outputs="logits")
