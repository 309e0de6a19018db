"""Tests of network training: penalties, class balance, noise, early stopping, seeds, errors."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import ElasticNet, Ridge
from torch import nn

from allrelevant import InputError, NetworkClassifier, NetworkRegressor, TrainingError
from allrelevant.saliency.networks.architectures import InputMask, MaskOptimizer
from allrelevant.saliency.networks.training import (
    BalancedRows,
    Training,
    TrainingSettings,
    make_inputs,
)


def linear(n_inputs, n_outputs):
    return nn.Linear(n_inputs, n_outputs)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, X @ [2.0, -1.0, 0.3, 0.0, 0.0] + 0.1 * rng.normal(size=60)


@pytest.fixture
def classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, np.where(X[:, 0] + X[:, 1] > 0.8, "rare", "frequent")


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
def test_mask_converges_to_the_elastic_net_solution(numbers, l1_ratio):
    # The loss |y - X w|^2 / n is convex in the mask w, and twice the loss of scikit-learn.
    X, y = numbers
    y = y - y.mean()
    strength = 0.8
    weight = nn.Parameter(torch.ones(5, dtype=torch.float64))
    X_tensor, y_tensor = torch.from_numpy(X), torch.from_numpy(y)
    optimizer = MaskOptimizer(weight, strength, l1_ratio, 0.01)
    for step in range(2000):
        optimizer.learning_rate = 0.02 / (1 + step / 100)
        (X_tensor @ weight - y_tensor).square().mean().backward()
        optimizer.step()
    expected = ElasticNet(
        strength / 2, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    found = weight.detach().numpy()
    np.testing.assert_allclose(found, expected.fit(X, y).coef_, atol=2e-3)
    np.testing.assert_array_equal(found == 0, expected.coef_ == 0)


def test_tiny_first_gradient_does_not_set_a_weight_to_zero():
    weight = nn.Parameter(torch.ones(3))
    optimizer = MaskOptimizer(weight, 0.5, 1.0, 1e-3)
    weight.grad = torch.tensor([1.0, -1.0, 1e-9])
    optimizer.step()
    assert weight.detach().min() > 0.9


def test_constant_inputs_get_zero_weight(numbers):
    X, y = numbers
    X = np.hstack([X, np.zeros((60, 1))])
    net = NetworkRegressor(
        linear, mask_penalty=0.2, max_epochs=60, learning_rate=0.02, random_state=0
    ).fit(X, y)
    assert net.mask_[5] == 0
    assert net.mask_steps_[5] < net.mask_steps_[0] == net.mask_steps_.max()


def test_l2_is_the_factor_of_the_squared_weights(numbers):
    # A linear network with this penalty is ridge regression.
    X, y = numbers
    l2 = 0.3
    net = NetworkRegressor(
        linear, l2=l2, max_epochs=500, batch_size=60, learning_rate=0.02, random_state=0
    ).fit(X, y)
    standard = (y - y.mean()) / y.std()
    expected = Ridge(alpha=l2 * len(y)).fit(X, standard)
    layer: Any = net.module_.network
    np.testing.assert_allclose(layer.weight.detach().numpy()[0], expected.coef_, atol=1e-3)
    np.testing.assert_allclose(layer.bias.item(), expected.intercept_, atol=1e-3)


def test_l1_shrinks_weights(numbers):
    X, y = numbers

    def total(l1):
        net = NetworkRegressor(linear, l1=l1, l2=0, max_epochs=200, learning_rate=0.01)
        return net.set_params(random_state=0).fit(X, y).module_.network.weight.abs().sum()

    assert total(0.5) < 0.8 * total(0.0)


def test_balanced_rows_have_equal_class_frequencies():
    codes = torch.tensor([0] * 7 + [1] * 3 + [2])
    torch.manual_seed(0)
    drawn = BalancedRows(codes)()
    assert torch.bincount(codes[drawn]).tolist() == [7, 7, 7]
    assert set(drawn.tolist()) == set(range(11))
    times = torch.bincount(drawn)[7:10]
    assert times.max() - times.min() == 1
    each_once = NetworkClassifier(balanced=False)._sampler(codes)
    assert sorted(each_once().tolist()) == list(range(11))


def test_balancing_predicts_the_rare_class_more_often(classes):
    X, y = classes

    def found(balanced):
        net = NetworkClassifier(
            linear, balanced=balanced, max_epochs=60, learning_rate=0.03, random_state=0
        )
        return (net.fit(X, y).predict(X) == "rare").sum()

    assert found(True) > found(False)


def test_noise_is_added_only_to_varying_inputs():
    seen = []

    class Recorder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def forward(self, rows):
            if self.training:
                seen.append(rows.clone())
            return self.layer(rows)

    X = np.zeros((50, 3), dtype=np.float32)
    X[:25, 0] = 1.0
    settings = TrainingSettings(lambda out, y: (out[:, 0] - y).square().mean(), 1, 50, 1e-3, 0.0)
    noisy = TrainingSettings(settings.loss, 1, 50, 1e-3, input_noise=0.5)
    torch.manual_seed(0)
    for one in (settings, noisy):
        inputs = make_inputs(X, torch.device("cpu"))
        Training(Recorder(), one).run(
            inputs, torch.zeros(50), lambda: torch.randperm(50), lambda: None
        )
    plain, noisy_rows = seen
    assert plain.unique().tolist() == [0.0, 1.0]
    assert noisy_rows[:, 0].unique().numel() == 50
    assert not noisy_rows[:, 1:].any()


def test_annealing_follows_half_a_cosine(numbers):
    X, y = (part.astype(np.float32) for part in numbers)

    def squared(outputs, targets):
        return (outputs[:, 0] - targets).square().mean()

    torch.manual_seed(0)
    trained, naive = nn.Linear(5, 1), nn.Linear(5, 1)
    naive.load_state_dict(trained.state_dict())
    settings = TrainingSettings(squared, 4, 20, 0.1, annealing=True)
    inputs, targets = make_inputs(X, torch.device("cpu")), torch.from_numpy(y)
    Training(trained, settings).run(inputs, targets, lambda: torch.arange(len(y)), lambda: None)

    optimizer = torch.optim.Adam(naive.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4 * 3)
    for _ in range(4):
        for rows in torch.arange(60).split(20):
            optimizer.zero_grad()
            squared(naive(torch.from_numpy(X)[rows]), targets[rows]).backward()
            optimizer.step()
            scheduler.step()
    torch.testing.assert_close(trained.weight, naive.weight)
    torch.testing.assert_close(trained.bias, naive.bias)


def test_annealing_also_applies_to_the_mask(numbers):
    X, y = numbers
    learning_rates = []
    step = MaskOptimizer.step

    def recording_step(self):
        learning_rates.append(self.learning_rate)
        step(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MaskOptimizer, "step", recording_step)
        NetworkRegressor(
            linear, mask_penalty=0.1, annealing=True, max_epochs=2, batch_size=30, random_state=0
        ).fit(X, y)
    expected = 1e-3 * (1 + np.cos(np.pi * np.arange(4) / 4)) / 2
    np.testing.assert_allclose(learning_rates, expected)


def test_early_stopping_restores_the_best_epoch(classes):
    X, y = classes
    noise = np.random.default_rng(1).permutation(y)
    net = NetworkClassifier(
        max_epochs=60, early_stopping=True, n_iter_no_change=3, random_state=0, learning_rate=0.01
    ).fit(X, noise)
    assert net.n_iter_ < 60
    assert len(net.validation_curve_) == net.n_iter_
    best = int(np.argmin(net.validation_curve_))
    assert net.n_iter_ <= best + 1 + 3
    again = NetworkClassifier(
        max_epochs=best + 1, early_stopping=True, random_state=0, learning_rate=0.01
    ).fit(X, noise)
    np.testing.assert_allclose(net.predict_proba(X), again.predict_proba(X), rtol=1e-6)


def test_too_few_rows_for_early_stopping():
    net = NetworkClassifier(early_stopping=True, random_state=0)
    with pytest.raises(InputError, match="too few"):
        net.fit(np.eye(4), [0, 1, 0, 1])


def test_seeds_are_reproducible_and_torch_random_state_is_restored(classes):
    X, y = classes
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second, other = (
        NetworkClassifier(max_epochs=2, random_state=seed).fit(X, y).predict_proba(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)
    assert torch.equal(torch.rand(3), expected)


def test_small_networks_use_one_thread_and_the_setting_is_restored(classes):
    X, y = classes
    seen = []

    class Counting(nn.Linear):
        def forward(self, rows):
            seen.append(torch.get_num_threads())
            return super().forward(rows)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        NetworkClassifier(Counting, max_epochs=1).fit(X, y)
        assert set(seen) == {1}
        assert torch.get_num_threads() == 3
        seen.clear()
        NetworkClassifier(Counting, max_epochs=1, n_threads=2).fit(X, y)
        assert set(seen) == {2}
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("factor", "learning_rate", "cause"), [(1e30, 1e-3, "Standardize it"), (1.0, 1e30, "Lower it")]
)
def test_diverging_loss_reports_the_epoch_and_the_cause(numbers, factor, learning_rate, cause):
    X, y = numbers
    net = NetworkRegressor(linear, learning_rate=learning_rate, random_state=0, max_epochs=20)
    with pytest.raises(TrainingError, match=rf"in epoch \d+: .*{cause}"):
        net.fit(factor * X, y)


def test_predictions_scale_with_the_unit_of_the_target(numbers):
    X, y = numbers
    net = NetworkRegressor(max_epochs=5, random_state=0)
    plain = net.fit(X, y).predict(X)
    moved = net.fit(X, 1e6 + 1e-2 * y).predict(X)
    # Rounding of the target may flip the sign of the smallest gradients.
    np.testing.assert_allclose((moved - 1e6) * 1e2, plain, atol=0.02)


def test_refit_without_a_mask_removes_the_mask(numbers):
    X, y = numbers
    net = NetworkRegressor(max_epochs=1, mask_penalty=0.1, random_state=0).fit(X, y)
    assert net.mask_.shape == (5,)
    assert isinstance(net.module_.mask, InputMask)
    assert not hasattr(net.set_params(mask_penalty=None).fit(X, y), "mask_")
