"""Tests of the smallest adversarial perturbations against exact solutions for linear models."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from allrelevant import InputError, RelevanceWarning, robustness
from allrelevant.plots import RobustnessDisplay
from allrelevant.saliency import as_differentiable
from allrelevant.saliency.robustness import ClassLogOdds

from .differences import central_differences


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def network(iris):
    X, y = iris
    model = MLPClassifier((12,), activation="tanh", alpha=1e-3, max_iter=400, random_state=0)
    return model.set_params(learning_rate_init=0.01).fit(X, y)


def test_binary_linear_model_equals_the_closed_form(iris):
    X, y = iris
    X, y = X[:100], y[:100]
    model = LogisticRegression().fit(X, y)
    found = robustness(model, X[:5], certainty=0.97, max_steps=100)
    margin = model.decision_function(X[:5])
    length = np.linalg.norm(model.coef_)
    for column, sign in enumerate((-1, 1)):
        expected = np.maximum(0, logit(0.97) - sign * margin) / length
        np.testing.assert_allclose(found.distance[:, column], expected, rtol=1e-5, atol=1e-9)
    assert found.reached.all()


def test_perturbations_reach_the_class_and_are_locally_minimal(iris, network):
    X, _ = iris
    rows = X[[0, 60, 120]]
    found = robustness(network, rows, certainty=0.9, max_steps=300)
    assert found.reached.all()
    certainty = ClassLogOdds(as_differentiable(network))
    for column, target in enumerate(found.targets):
        changed = found.changed[:, column]
        probability = network.predict_proba(changed)[:, target]
        np.testing.assert_allclose(found.certainty[:, column], probability, rtol=1e-9)
        assert (probability >= 0.9).all()
        moved = found.distance[:, column] > 0
        change = (changed - rows)[moved]
        np.testing.assert_allclose(
            np.linalg.norm(change, axis=1), found.distance[moved, column], rtol=1e-12
        )
        # First-order optimality: the perturbation is parallel to the gradient at its end.
        _, gradient = certainty.with_gradient(changed[moved], np.full(moved.sum(), column))
        cosine = (change * gradient).sum(axis=1) / (
            np.linalg.norm(change, axis=1) * np.linalg.norm(gradient, axis=1)
        )
        assert (cosine > 0.999).all()
        np.testing.assert_allclose(probability[moved], 0.9, atol=1e-4)


def test_a_row_that_already_reaches_the_goal_is_not_changed(iris, network):
    X, _ = iris
    sure = int(network.predict_proba(X)[:, 0].argmax())
    found = robustness(network, X[[sure]], [0], certainty=0.6)
    assert found.distance[0, 0] == 0
    assert found.steps[0, 0] == 0
    np.testing.assert_array_equal(found.changed[0, 0], X[sure])


def test_perturbations_not_found_are_reported(iris, network):
    X, _ = iris
    with pytest.warns(RelevanceWarning, match=r"for 2 of 3 \(row, class\) pairs"):
        found = robustness(network, X[:1], certainty=0.99, max_steps=1, step=1e-3)
    assert found.n_missed == 2
    assert np.isnan(found.distance[~found.reached]).all()
    assert (found.steps[~found.reached] == -1).all()
    assert (found.certainty[~found.reached] < 0.99).all()
    table = found.to_frame()
    assert table["target"].tolist() == [0, 1, 2]
    assert table["reached"].tolist() == found.reached[0].tolist()


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_perturbations_respect_the_bounds(iris, network):
    X, _ = iris
    row = X[[120]]
    bounds = (row.min(), row.max())
    unbounded = robustness(network, row, certainty=0.7)
    found = robustness(network, row, certainty=0.7, bounds=bounds)
    assert unbounded.changed.min() < bounds[0] - 0.1
    assert found.changed.min() >= bounds[0]
    assert found.changed.max() <= bounds[1]
    both = found.reached & unbounded.reached
    assert (found.distance[both] >= unbounded.distance[both] - 1e-6).all()


@pytest.mark.parametrize("from_logits", [True, False])
def test_log_odds_and_their_gradient(iris, network, from_logits):
    X, _ = iris
    certainty = ClassLogOdds(as_differentiable(network))
    classes = np.arange(6) % 3
    if not from_logits:
        certainty = ClassLogOdds(_Probabilities(certainty.model))
    found, gradient = certainty.with_gradient(X[:6], classes)
    probability = network.predict_proba(X[:6])[np.arange(6), classes]
    np.testing.assert_allclose(found, np.log(probability / (1 - probability)), rtol=1e-6)
    expected = central_differences(lambda Z: certainty.log_odds(Z, classes), X[:6])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


class _Probabilities:
    """Model whose outputs are the softmax of another model's logits."""

    def __init__(self, model):
        from allrelevant.saliency import ProbabilityGain

        self.model, self.gain = model, ProbabilityGain()

    def outputs(self, X):
        from scipy.special import softmax

        return softmax(self.model.outputs(X), axis=1)

    def vjp(self, X, output_gradient):
        p = self.outputs(X)
        inner = (output_gradient * p).sum(axis=1, keepdims=True)
        return self.model.vjp(X, p * (output_gradient - inner))


def test_bad_input(iris, network):
    X, y = iris
    with pytest.raises(InputError, match="7 is not a class of the model"):
        robustness(network, X[:1], [7])
    with pytest.raises(InputError, match="between 0 and 1"):
        robustness(network, X[:1], certainty=95)
    with pytest.raises(InputError, match="trained on 4"):
        robustness(network, X[:1, :3])
    with pytest.raises(InputError, match="classifier with probabilities"):
        robustness(SVC().fit(X, y), X[:1])
    with pytest.raises(InputError, match="step must be"):
        robustness(network, X[:1], step=0.0)
    with pytest.raises(InputError, match="bounds must be"):
        robustness(network, X[:1], bounds=(1.0, 0.0))
    with pytest.raises(InputError, match="outside the bounds"):
        robustness(network, X[:1], bounds=(0.0, 1.0))


def test_grid_of_images(iris, network):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, _ = iris
    with pytest.warns(RelevanceWarning):
        found = robustness(network, X[[0, 60]], certainty=0.99, max_steps=3)
    display = found.plot(image_shape=(2, 2))
    assert isinstance(display, RobustnessDisplay)
    assert display.axes_.shape == (2, 4)
    assert [ax.get_title() for ax in display.axes_[0]] == ["original", "0", "1", "2"]
    for row in range(2):
        for column in range(3):
            missed = [text.get_text() for text in display.axes_[row, column + 1].texts]
            assert missed == ([] if found.reached[row, column] else ["not reached"])
    np.testing.assert_allclose(
        display.axes_[0, 0].images[0].get_array(),
        (X[0].reshape(2, 2) - found.X.min()) / np.ptp(found.X),
    )
    with pytest.raises(InputError, match="do not form an image"):
        found.plot(image_shape=(3, 3))
