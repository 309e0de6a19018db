"""What GMLVQ learns, and what it says of impossible input."""

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


def cost_of(learner, X, y):
    """From the fitted attributes alone, by the paper's sum."""
    prototypes, labels = learner.prototypes_, learner.prototype_labels_
    return naive_gmlvq(X, y, prototypes, labels, learner.omega_, learner.beta)


@pytest.mark.parametrize("settings", [{}, {"rank": 2}, {"prototypes_per_class": 2}, {"beta": 5.0}])
def test_the_cost_it_reports_is_that_of_what_it_learned(wine, settings):
    X, y = wine
    learner = GMLVQ(random_state=0, **settings).fit(X, y)
    assert learner.cost_ == pytest.approx(cost_of(learner, X, y), abs=1e-9)


def test_the_penalty_is_part_of_the_cost(wine):
    X, y = wine
    learner = GMLVQ(rank=3, regularization=0.02).fit(X, y)
    expected = cost_of(learner, X, y) + 0.02 * rank_penalty(learner.omega_)[0]
    assert learner.cost_ == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weight", [0.0, 0.01])
def test_it_ends_at_a_minimum(wine, weight):
    # Two prototypes: with more, the cost has kinks where the nearest one changes.
    X, y = wine[0][::3], np.minimum(wine[1][::3], 1)
    learner = GMLVQ(regularization=weight, tol=0.0).fit(X, y)

    def cost(prototypes, omega):
        value = naive_gmlvq(X, y, prototypes, learner.prototype_labels_, omega, learner.beta)
        return value + weight * rank_penalty(omega)[0]

    def slopes(prototypes, omega):
        by_prototypes = numeric_gradient(lambda p: cost(p, omega), prototypes)
        by_omega = numeric_gradient(lambda o: cost(prototypes, o), omega)
        return np.array([np.linalg.norm(by_prototypes), np.linalg.norm(by_omega)])

    means = np.array([X[y == label].mean(axis=0) for label in range(2)])
    at_start = slopes(means, np.eye(13) / np.sqrt(13))
    at_end = slopes(learner.prototypes_, learner.omega_)
    assert (at_end < 1e-4 * at_start).all(), at_end / at_start


def test_the_matrix_by_its_other_names(wine):
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


def test_the_decision_of_two_classes_is_the_cost_row_by_row():
    data = make_xor(random_state=0)
    learner = GMLVQ(prototypes_per_class=2, random_state=0).fit(data.X, data.y)
    toward_own = np.where(data.y == 1, 1.0, -1.0) * learner.decision_function(data.X)
    assert np.mean(expit(-learner.beta * toward_own)) == pytest.approx(learner.cost_, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_xor_takes_two_prototypes_a_class(seed):
    train, test = make_xor(random_state=seed), make_xor(random_state=100 + seed)
    learner = GMLVQ(prototypes_per_class=2, random_state=seed).fit(train.X, train.y)
    assert learner.score(test.X, test.y) == 1.0
    assert GMLVQ().fit(train.X, train.y).score(test.X, test.y) < 0.8


def test_offset_and_unit_of_the_table_change_nothing(wine):
    X, y = wine
    plain = GMLVQ(rank=2).fit(X, y)
    moved = GMLVQ(rank=2).fit(1e-3 * X + 50.0, y)
    assert moved.cost_ == pytest.approx(plain.cost_, rel=1e-5)
    np.testing.assert_allclose(moved.relevances_, plain.relevances_, atol=1e-3)
    # The two stop at slightly different places: a row between two classes may go either way.
    assert np.mean(moved.predict(1e-3 * X + 50.0) == plain.predict(X)) >= 0.98


def test_regularization_keeps_directions(wine):
    def smallest_share(weight):
        size = np.linalg.svd(GMLVQ(regularization=weight).fit(*wine).omega_, compute_uv=False)
        return size[-1] / size[0]

    without, little, much = (smallest_share(weight) for weight in (0.0, 0.001, 0.1))
    assert without < 1e-2
    assert little < 0.3 < 0.6 < much


def test_seeds_repeat_and_matter(wine):
    X, y = wine
    learner = GMLVQ(rank=2, start="random", prototypes_per_class=2, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        one, two, three = (
            clone(learner).set_params(random_state=seed).fit(X, y) for seed in (0, 0, 1)
        )
    np.testing.assert_array_equal(one.omega_, two.omega_)
    np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
    assert not np.allclose(one.lambda_, three.lambda_)


def test_too_few_iterations_are_said(wine):
    with pytest.warns(ConvergenceWarning, match="GMLVQ stopped after 3 iterations"):
        learner = GMLVQ(max_iter=3).fit(*wine)
    assert learner.n_iter_ == 3


def test_more_features_than_rows_at_any_rank():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    X[:, 0] += 3 * y
    for rank in (1, 19, 20, 30, None):
        learner = GMLVQ(rank=rank, random_state=0).fit(X, y)
        assert learner.components_.shape == (rank or 50, 50)
        assert learner.score(X, y) == 1.0


def test_tables_keep_their_names(wine):
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
        ({"rank": 14}, "rank is 14, but a mapping of 13 features has a rank of 13 at most"),
        ({"prototypes_per_class": 49}, "Class '2' has 48 rows, too few for 49 prototypes"),
        ({"prototypes_per_class": {0: 1, 1: 1}}, "no number for class '2'"),
        ({"prototypes_per_class": {0: 1, 1: 1, 2: 1, 3: 1}}, "for '3', which is no class"),
        ({"prototypes_per_class": {0: 1, 1: 0, 2: 1}}, "at least 1, got 0 for class '1'"),
    ],
)
def test_impossible_settings_are_one_line(wine, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        GMLVQ(**settings).fit(*wine)
    assert "\n" not in str(caught.value)


def test_impossible_tables_are_one_line(wine):
    X, y = wine
    with pytest.raises(InputError, match="single class, '1'"):
        GMLVQ().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(InputError, match="All columns are constant"):
        GMLVQ().fit(np.full_like(X, 0.1), y)
    X = X.copy()
    X[[2, 5], 3] = np.nan
    with pytest.raises(InputError, match="2 rows have NaN or infinity, the first in column 'x3'"):
        GMLVQ().fit(X, y)


def test_missing_values_are_refused_by_name_in_predictions_too():
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = GMLVQ().fit(X, y)
    X.iloc[7, 1] = np.inf
    for use in (learner.predict, learner.transform, learner.decision_function):
        with pytest.raises(InputError, match=r"1 rows? .* column 'sepal width \(cm\)'"):
            use(X)


def test_equal_rows_can_have_several_prototypes():
    X, y = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0), np.repeat(["a", "b"], 5)
    learner = GMLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(learner.predict(X), y)


def test_prototypes_start_at_the_means_or_at_the_clusters():
    rng = np.random.RandomState(0)
    centres = np.array([[0.0, 0.0], [9.0, 9.0], [9.0, 0.0]])
    X = np.repeat(centres, 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
    codes = np.repeat([0, 0, 1], 20)
    places = initial_prototypes(X, codes, [2, 1], rng)
    np.testing.assert_allclose(places[np.argsort(places[:2, 0])], centres[:2], atol=0.2)
    np.testing.assert_allclose(places[2], X[40:].mean(axis=0))


def test_numbers_of_prototypes_by_class():
    assert prototype_counts({"a": 1, "b": 3}, np.array(["a", "b"]), [10, 10]) == [1, 3]
