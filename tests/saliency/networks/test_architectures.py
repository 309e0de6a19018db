"""Tests of the predefined networks, and of reshaping rows to images."""

import numpy as np
import pytest
import torch
from torch import nn

from allrelevant import InputError, NetworkClassifier
from allrelevant.saliency import as_differentiable
from allrelevant.saliency.networks.architectures import ToImage, check_image_shape
from allrelevant.saliency.networks.catalog import build_network


def n_weights(module):
    return sum(p.numel() for p in module.parameters())


def test_mlp_has_the_layers_of_the_paper():
    layers = list(build_network("mlp", 20, 3, None).children())
    sizes = [
        (layer.in_features, layer.out_features) for layer in layers if isinstance(layer, nn.Linear)
    ]
    assert sizes == [(20, 150), (150, 100), (100, 50), (50, 3)]
    assert sum(isinstance(layer, nn.BatchNorm1d) for layer in layers) == 3


def test_cnn_has_the_layers_of_the_paper():
    module = build_network("cnn", 784, 10, None)
    layers = list(module.children())
    kinds = [type(layer).__name__ for layer in layers]
    assert kinds == [
        "ToImage", "Conv2d", "BatchNorm2d", "MaxPool2d", "ReLU", "Conv2d", "BatchNorm2d",
        "MaxPool2d", "ReLU", "Flatten", "Linear", "BatchNorm1d", "ReLU", "Linear",
    ]  # fmt: skip
    assert [layers[1].out_channels, layers[5].out_channels, layers[10].out_features] == [
        16, 32, 1024,
    ]  # fmt: skip
    assert module(torch.rand(2, 784)).shape == (2, 10)


def test_pooling_before_relu_does_not_change_the_result():
    """Max pooling before the ReLU gives the same outputs and gradients as after it.

    The paper applies the ReLU first; the maximum and the ReLU commute.
    """
    pooled_first = build_network("cnn", 784, 10, None)
    layers = list(pooled_first.children())
    for pool, relu in ((3, 4), (7, 8)):
        layers[pool], layers[relu] = layers[relu], layers[pool]
    relu_first = nn.Sequential(*layers)  # with the same weights
    found = []
    for module in (pooled_first, relu_first):
        rows = torch.rand(5, 784, generator=torch.Generator().manual_seed(0)).requires_grad_()
        outputs = module(rows)
        gradients = torch.autograd.grad(outputs.square().sum(), [rows, *module.parameters()])
        found.append([outputs.detach(), *gradients])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_the_wide_residual_network_has_the_layers_and_weights_of_the_original():
    module = build_network("wrn-16-4", 3072, 10, (32, 32, 3))
    convolutions = [part for part in module.modules() if isinstance(part, nn.Conv2d)]
    assert sum(part.kernel_size == (3, 3) for part in convolutions) == 13
    assert sum(part.kernel_size == (1, 1) for part in convolutions) == 3
    assert n_weights(module) == pytest.approx(2.75e6, rel=0.01)  # "2.8M" in the original
    assert module(torch.rand(2, 3072)).shape == (2, 10)


def test_channels_of_a_pixel_are_adjacent_columns():
    image = np.arange(4 * 5 * 3).reshape(4, 5, 3)
    channels_first = ToImage((4, 5, 3))(torch.from_numpy(image.reshape(1, -1)))
    assert channels_first.shape == (1, 3, 4, 5)
    np.testing.assert_array_equal(channels_first[0, 2], image[:, :, 2])


@pytest.mark.parametrize(
    ("n_inputs", "shape", "message"),
    [
        (783, None, "do not form a square image"),
        (784, (27, 28), "does not match"),
        (784, (784,), "does not match"),
        (9, None, "too small"),
    ],
)
def test_invalid_image_shapes_raise(n_inputs, shape, message):
    with pytest.raises(InputError, match=message):
        check_image_shape(n_inputs, shape)


@pytest.mark.parametrize("name", ["cnn", "wrn-16-4"])
def test_image_networks_learn(name):
    rng = np.random.default_rng(0)
    images, y = rng.uniform(size=(20, 8, 8)), np.arange(20) % 2
    images[y == 1, 2:6, 2:6] += 1.0
    X = images.reshape(20, 64)
    net = NetworkClassifier(
        name, max_epochs=4, batch_size=10, learning_rate=0.01, random_state=0, n_threads=1
    ).fit(X, y)
    assert net.loss_curve_[-1] < 0.5 * net.loss_curve_[0]
    gradient = as_differentiable(net).vjp(X, np.ones((20, 2)))
    assert gradient.shape == (20, 64)
    assert gradient.any()
