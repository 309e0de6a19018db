"""Tests of GMLVQ: training, prediction and input validation."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from allrelevant import GMLVQ, InputError
from allrelevant.datasets import make_xor
from allrelevant.metric_learning.costs import rank_penalty
from allrelevant.metric_learning.gmlvq import initial_prototypes, prototype_counts
from tests.metric_learning.naive import naive_gmlvq, numeric_gradient, squared_distance


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def naive_cost(learner, X, y):
    """Compute the GMLVQ cost from the fitted attributes alone."""
    prototypes, labels = learner.prototypes_, learner.prototype_labels_
    return naive_gmlvq(X, y, prototypes, labels, learner.omega_, learner.beta)


@pytest.mark.parametrize("settings", [{}, {"rank": 2}, {"prototypes_per_class": 2}, {"beta": 5.0}])
def test_reported_cost_equals_the_naive_cost(wine, settings):
    X, y = wine
    learner = GMLVQ(random_state=0, **settings).fit(X, y)
    assert learner.cost_ == pytest.approx(naive_cost(learner, X, y), abs=1e-9)


def test_cost_includes_the_penalty(wine):
    X, y = wine
    learner = GMLVQ(rank=3, regularization=0.02).fit(X, y)
    expected = naive_cost(learner, X, y) + 0.02 * rank_penalty(learner.omega_)[0]
    assert learner.cost_ == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weight", [0.0, 0.01])
def test_gradient_vanishes_at_the_solution(wine, weight):
    # With more than two prototypes, the cost is not differentiable where the nearest one changes.
    X, y = wine[0][::3], np.minimum(wine[1][::3], 1)
    learner = GMLVQ(regularization=weight, tol=0.0).fit(X, y)

    def cost(prototypes, omega):
        value = naive_gmlvq(X, y, prototypes, learner.prototype_labels_, omega, learner.beta)
        return value + weight * rank_penalty(omega)[0]

    def gradient_norms(prototypes, omega):
        by_prototypes = numeric_gradient(lambda p: cost(p, omega), prototypes)
        by_omega = numeric_gradient(lambda o: cost(prototypes, o), omega)
        return np.array([np.linalg.norm(by_prototypes), np.linalg.norm(by_omega)])

    means = np.array([X[y == label].mean(axis=0) for label in range(2)])
    at_start = gradient_norms(means, np.eye(13) / np.sqrt(13))
    at_end = gradient_norms(learner.prototypes_, learner.omega_)
    assert (at_end < 1e-4 * at_start).all(), at_end / at_start


def test_fitted_attributes_are_consistent(wine):
    learner = GMLVQ(rank=3).fit(*wine)
    lam = learner.omega_.T @ learner.omega_
    np.testing.assert_allclose(learner.lambda_, lam)
    np.testing.assert_allclose(learner.components_.T @ learner.components_, lam, atol=1e-12)
    np.testing.assert_allclose(learner.relevances_, np.diag(lam))
    assert np.trace(lam) == pytest.approx(1.0)
    rows = learner.components_ @ learner.components_.T
    np.testing.assert_allclose(rows, np.diag(np.diag(rows)), atol=1e-12)
    assert (np.diff(np.diag(rows)) <= 0).all()


def test_prediction_is_the_class_of_the_nearest_prototype(wine):
    X, y = wine
    learner = GMLVQ(prototypes_per_class={0: 1, 1: 3, 2: 2}, random_state=0).fit(X, y)
    assert learner.prototype_labels_.tolist() == [0, 1, 1, 1, 2, 2]
    distances = np.array(
        [[squared_distance(learner.omega_, x, w) for w in learner.prototypes_] for x in X]
    )
    nearest = learner.prototype_labels_[distances.argmin(axis=1)]
    np.testing.assert_array_equal(learner.predict(X), nearest)
    decision = learner.decision_function(X)
    np.testing.assert_array_equal(decision.argmax(axis=1), nearest)
    for code in range(3):
        own = distances[:, learner.prototype_labels_ == code].min(axis=1)
        other = distances[:, learner.prototype_labels_ != code].min(axis=1)
        np.testing.assert_allclose(decision[:, code], (other - own) / (other + own), atol=1e-9)


def test_cost_is_the_mean_sigmoid_of_the_decision_function():
    data = make_xor(random_state=0)
    learner = GMLVQ(prototypes_per_class=2, random_state=0).fit(data.X, data.y)
    margin = np.where(data.y == 1, 1.0, -1.0) * learner.decision_function(data.X)
    assert np.mean(expit(-learner.beta * margin)) == pytest.approx(learner.cost_, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_xor_needs_two_prototypes_per_class(seed):
    train, test = make_xor(random_state=seed), make_xor(random_state=100 + seed)
    learner = GMLVQ(prototypes_per_class=2, random_state=seed).fit(train.X, train.y)
    assert learner.score(test.X, test.y) == 1.0
    assert GMLVQ().fit(train.X, train.y).score(test.X, test.y) < 0.8


def test_result_is_invariant_to_offset_and_unit(wine):
    X, y = wine
    plain = GMLVQ(rank=2).fit(X, y)
    moved = GMLVQ(rank=2).fit(1e-3 * X + 50.0, y)
    assert moved.cost_ == pytest.approx(plain.cost_, rel=1e-5)
    np.testing.assert_allclose(moved.relevances_, plain.relevances_, atol=1e-3)
    # The solutions differ slightly, so rows near the decision boundary may change class.
    assert np.mean(moved.predict(1e-3 * X + 50.0) == plain.predict(X)) >= 0.98


def test_regularization_preserves_the_rank(wine):
    def inverse_condition(weight):
        size = np.linalg.svd(GMLVQ(regularization=weight).fit(*wine).omega_, compute_uv=False)
        return size[-1] / size[0]

    without, little, much = (inverse_condition(weight) for weight in (0.0, 0.001, 0.1))
    assert without < 1e-2
    assert little < 0.3 < 0.6 < much


def test_result_depends_only_on_the_seed(wine):
    X, y = wine
    learner = GMLVQ(rank=2, start="random", prototypes_per_class=2, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        one, two, three = (
            clone(learner).set_params(random_state=seed).fit(X, y) for seed in (0, 0, 1)
        )
    np.testing.assert_array_equal(one.omega_, two.omega_)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
    assert not np.allclose(one.lambda_, three.lambda_)


def test_too_few_iterations_warn(wine):
    with pytest.warns(ConvergenceWarning, match="GMLVQ stopped after 3 iterations"):
        learner = GMLVQ(max_iter=3).fit(*wine)
    assert learner.n_iter_ == 3


def test_more_features_than_rows():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    X[:, 0] += 3 * y
    for rank in (1, 19, 20, 30, None):
        learner = GMLVQ(rank=rank, random_state=0).fit(X, y)
        assert learner.components_.shape == (rank or 50, 50)
        assert learner.score(X, y) == 1.0


def test_output_has_column_names(wine):
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = GMLVQ(rank=2).fit(X, y).set_output(transform="pandas")
    mapped = learner.transform(X)
    assert isinstance(mapped, pd.DataFrame)
    assert mapped.columns.tolist() == ["gmlvq0", "gmlvq1"]
    np.testing.assert_allclose(mapped, X.to_numpy() @ learner.components_.T)
    polars = pytest.importorskip("polars")
    learner.set_output(transform="polars")
    assert isinstance(learner.transform(polars.from_pandas(X)), polars.DataFrame)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 14}, r"rank=14 exceeds the number of features \(13\)"),
        ({"prototypes_per_class": 49}, r"Class '2' has too few rows \(48\) for 49 prototypes"),
        ({"prototypes_per_class": {0: 1, 1: 1}}, "no entry for class '2'"),
        ({"prototypes_per_class": {0: 1, 1: 1, 2: 1, 3: 1}}, "for '3', which is not a class"),
        ({"prototypes_per_class": {0: 1, 1: 0, 2: 1}}, r"at least 1 \(got 0 for class '1'\)"),
    ],
)
def test_invalid_settings_raise_one_line_errors(wine, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        GMLVQ(**settings).fit(*wine)
    assert "\n" not in str(caught.value)


def test_invalid_tables_raise_one_line_errors(wine):
    X, y = wine
    with pytest.raises(InputError, match="single class, '1'"):
        GMLVQ().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(InputError, match="All columns are constant"):
        GMLVQ().fit(np.full_like(X, 0.1), y)
    X = X.copy()
    X[[2, 5], 3] = np.nan
    with pytest.raises(InputError, match=r"X contains NaN values .* in feature 'x3'"):
        GMLVQ().fit(X, y)


def test_missing_values_in_prediction_raise_with_the_column_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = GMLVQ().fit(X, y)
    X.iloc[7, 1] = np.inf
    for use in (learner.predict, learner.transform, learner.decision_function):
        with pytest.raises(InputError, match=r"infinite values .* feature 'sepal width \(cm\)'"):
            use(X)


def test_several_prototypes_for_equal_rows():
    X, y = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0), np.repeat(["a", "b"], 5)
    learner = GMLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(learner.predict(X), y)


def test_initial_prototypes_are_means_or_cluster_centers():
    rng = np.random.RandomState(0)
    centers = np.array([[0.0, 0.0], [9.0, 9.0], [9.0, 0.0]])
    X = np.repeat(centers, 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
    codes = np.repeat([0, 0, 1], 20)
    prototypes = initial_prototypes(X, codes, [2, 1], rng)
    np.testing.assert_allclose(prototypes[np.argsort(prototypes[:2, 0])], centers[:2], atol=0.2)
    np.testing.assert_allclose(prototypes[2], X[40:].mean(axis=0))


def test_prototype_counts_from_a_mapping():
    assert prototype_counts({"a": 1, "b": 3}, np.array(["a", "b"]), [10, 10]) == [1, 3]


@pytest.mark.parametrize("per_class", [1, 2])
def test_integer_weights_are_equivalent_to_copies(per_class):
    X, y = load_iris(return_X_y=True)
    weight = np.random.RandomState(0).randint(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    settings: Any = {"rank": 2, "regularization": 0.01, "random_state": 0, "max_iter": 5000}
    weighted = GMLVQ(**settings, prototypes_per_class=per_class).fit(X, y, sample_weight=weight)
    copied = GMLVQ(**settings, prototypes_per_class=per_class).fit(X[copies], y[copies])
    if per_class == 1:  # otherwise, k-means starts at different samples
        np.testing.assert_allclose(weighted.lambda_, copied.lambda_, atol=1e-6)
    assert weighted.cost_ == pytest.approx(copied.cost_, abs=1e-3)
    plain = GMLVQ(**settings, prototypes_per_class=per_class).fit(X, y)
    assert np.abs(plain.lambda_ - weighted.lambda_).max() > 1e-3
