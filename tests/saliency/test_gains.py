"""Tests of gain functions against the paper's equations and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from allrelevant import InputError
from allrelevant.saliency import (
    CrossEntropyGain,
    HingeGain,
    OutputGain,
    ProbabilityGain,
    RegressionGain,
    SquaredHingeGain,
)

from .differences import central_differences

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, 30)
LOGITS = RNG.normal(size=(30, 4)) * 2
DECISIONS = RNG.uniform(-0.9, 0.9, (30, 4))  # not clipped
NUMBERS = RNG.normal(size=30)


@pytest.mark.parametrize(
    ("gain", "outputs", "targets"),
    [
        (CrossEntropyGain(), LOGITS, CODES),
        (CrossEntropyGain(alpha=3.0), LOGITS[:, :2], CODES % 2),
        (ProbabilityGain(), softmax(LOGITS, axis=1), CODES),
        (HingeGain(alpha=2.0), DECISIONS, CODES),
        (SquaredHingeGain(), DECISIONS, CODES),
        (RegressionGain(alpha=2.0, epsilon=0.1), LOGITS[:, :1], NUMBERS),
        (OutputGain(), LOGITS, CODES),
        (OutputGain(), LOGITS[:, :1], NUMBERS),
    ],
)
def test_gradient_is_the_derivative_of_the_value(gain, outputs, targets) -> None:
    expected = central_differences(lambda z: gain.value(z, targets), outputs)
    np.testing.assert_allclose(gain.gradient(outputs, targets), expected, atol=1e-6)


def test_cross_entropy_equals_the_equations() -> None:
    """The cross-entropy gain equals equations 8 and 9, evaluated row by row."""
    epsilon, alpha = 0.05, 2.0
    probabilities = softmax(LOGITS, axis=1)
    expected = []
    for row, code in enumerate(CODES):
        one_hot = np.eye(4)[code]
        clipped = np.minimum(1 - epsilon, probabilities[row])
        expected.append(-alpha * np.sum(one_hot * np.log(1 - clipped)))
    assert min(probabilities[np.arange(30), CODES]) < 0.1
    assert max(probabilities[np.arange(30), CODES]) > 1 - epsilon
    for gain, outputs in (
        (CrossEntropyGain(alpha, epsilon), LOGITS),
        (ProbabilityGain(alpha, epsilon), probabilities),
    ):
        np.testing.assert_allclose(gain.value(outputs, CODES), expected)


def test_hinge_equals_the_equations() -> None:
    """The hinge gain equals equations 11 and 12, evaluated row by row."""
    epsilon, alpha = 0.01, 2.0
    decisions = RNG.normal(size=(30, 4)) * 2
    expected = []
    for row, code in enumerate(CODES):
        clipped = (np.minimum(1, np.maximum(-1, decisions[row])) + 1) / 2
        expected.append(-alpha * np.log(1 - np.minimum(1 - epsilon, clipped))[code])
    np.testing.assert_allclose(HingeGain(alpha, epsilon).value(decisions, CODES), expected)


def test_squared_hinge_equals_its_definition() -> None:
    decisions = RNG.normal(size=(30, 4)) * 2
    clipped, one_hot = np.clip(decisions, -1, 1), np.eye(4)[CODES]
    expected = one_hot * np.maximum(0, 1 + clipped) ** 2
    expected += (1 - one_hot) * np.maximum(0, 1 - clipped) ** 2
    np.testing.assert_allclose(SquaredHingeGain().value(decisions, CODES), expected.sum(axis=1))


@pytest.mark.parametrize("gain", [HingeGain(), SquaredHingeGain()])
def test_gradient_ignores_clipping_of_decisions(gain) -> None:
    at_margin, beyond = np.array([[-1.0, 1.0]]), np.array([[-2000.0, 2000.0]])
    target = np.array([1])
    np.testing.assert_array_equal(gain.value(at_margin, target), gain.value(beyond, target))
    np.testing.assert_array_equal(gain.gradient(at_margin, target), gain.gradient(beyond, target))
    assert gain.gradient(beyond, target)[0, 1] > 0


def test_gradient_ignores_clipping_of_probabilities() -> None:
    gain, target = ProbabilityGain(epsilon=0.1), np.array([0])
    assert gain.gradient(np.array([[0.99, 0.01]]), target)[0, 0] == pytest.approx(10.0)
    assert gain.gradient(np.array([[0.9, 0.1]]), target)[0, 0] == pytest.approx(10.0)


def test_gradient_does_not_vanish_for_confident_predictions() -> None:
    """The gradient does not vanish for confident predictions.

    In the paper's equation it would, because 1 - p rounds to zero.
    """
    logits, target = np.array([[800.0, 0.0, -5.0]]), np.array([0])
    np.testing.assert_allclose(
        CrossEntropyGain().gradient(logits, target),
        [[1, -1 / (1 + np.exp(-5)), -1 / (1 + np.exp(5))]],
    )
    assert CrossEntropyGain().value(logits, target) == pytest.approx(-np.log(1e-3))


def test_clear_misclassification_has_almost_no_gradient() -> None:
    wrong, target = np.array([[0.0, 60.0]]), np.array([0])
    assert np.abs(CrossEntropyGain().gradient(wrong, target)).max() < 1e-20
    assert np.abs(SquaredHingeGain().gradient(np.array([[-3.0, 3.0]]), target)).max() == 0
    right = HingeGain().gradient(np.array([[3.0, -3.0]]), target)
    assert np.abs(HingeGain().gradient(np.array([[-3.0, 3.0]]), target)).max() < right.max() / 900


def test_wrong_number_of_outputs_raises() -> None:
    with pytest.raises(InputError, match="at least two outputs"):
        CrossEntropyGain().value(np.zeros((2, 1)), np.array([0, 0]))
    with pytest.raises(InputError, match="3 outputs, but there are 5 classes"):
        HingeGain().gradient(np.zeros((2, 3)), np.array([0, 4]))
    with pytest.raises(InputError, match="3 outputs, but a regressor"):
        RegressionGain().value(np.zeros((2, 3)), np.array([0.0, 4.0]))
