"""Tests of LMNN: training, prediction and input validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from allrelevant import LMNN, InputError
from allrelevant.metric_learning.costs import target_neighbors
from tests.metric_learning.naive import naive_lmnn, random_problem


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("settings", [{}, {"rank": 2}, {"n_neighbors": 1, "push": 0.8}])
def test_reported_cost_equals_the_naive_cost(settings):
    X, y, _ = random_problem(0)
    learner = LMNN(**settings).fit(X, y)
    targets = target_neighbors(X, y, learner.n_neighbors)
    expected = naive_lmnn(X, y, targets, learner.omega_, learner.push)
    assert learner.cost_ == pytest.approx(expected, rel=1e-9)


def test_full_rank_solution_is_the_global_minimum():
    # The cost is convex in the metric, so the solution must not depend on the start.
    X, y, rng = random_problem(1)
    targets = target_neighbors(X, y, 3)
    best = LMNN(tol=1e-9, max_iter=5000).fit(X, y)
    for seed in range(3):
        other = LMNN(start="random", tol=1e-9, max_iter=5000, random_state=seed).fit(X, y)
        assert other.cost_ == pytest.approx(best.cost_, rel=1e-3)
    # No step toward a different metric reduces the cost.
    for _ in range(10):
        other = rng.normal(size=(5, 5))
        size = np.geomspace(1e-4, 0.3, 3)[:, np.newaxis, np.newaxis]
        between = (1 - size) * best.lambda_ + size * (other.T @ other)
        roots = np.linalg.cholesky(between).transpose(0, 2, 1)
        costs = [naive_lmnn(X, y, targets, root, 0.5) for root in roots]
        assert min(costs) > best.cost_ * (1 - 1e-4)


def test_prediction_uses_the_nearest_neighbors_in_the_metric(wine):
    X, y = wine
    learner = LMNN(n_neighbors=5, rank=4).fit(X[::2], y[::2])
    reference = KNeighborsClassifier(5).fit(X[::2] @ learner.omega_.T, y[::2])
    np.testing.assert_array_equal(learner.predict(X), reference.predict(X @ learner.omega_.T))


def test_irrelevant_features_get_small_weights():
    rng = np.random.RandomState(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 12))
    X[:, 1:] *= 4.0
    X[:, 0] += 4.0 * y
    train, test = slice(0, 150), slice(150, None)
    learner = LMNN().fit(X[train], y[train])
    plain = KNeighborsClassifier(3).fit(X[train], y[train]).score(X[test], y[test])
    assert learner.relevances_.argmax() == 0
    assert learner.score(X[test], y[test]) > 0.9 > 0.7 > plain


def test_fitted_attributes_are_consistent(wine):
    learner = LMNN(rank=3).fit(*wine)
    lam = learner.omega_.T @ learner.omega_
    np.testing.assert_allclose(learner.lambda_, lam)
    np.testing.assert_allclose(learner.components_.T @ learner.components_, lam, atol=1e-12)
    np.testing.assert_allclose(learner.relevances_, np.diag(lam))


def test_result_is_invariant_to_offset_and_unit(wine):
    X, y = wine
    plain, moved = LMNN(rank=2).fit(X, y), LMNN(rank=2).fit(1e-3 * X + 50.0, y)
    assert moved.cost_ == pytest.approx(plain.cost_, rel=1e-3)
    assert np.mean(moved.predict(1e-3 * X + 50.0) == plain.predict(X)) > 0.99


def test_result_depends_only_on_the_seed(wine):
    X, y = wine
    with pytest.warns(ConvergenceWarning, match="LMNN stopped after 2 iterations"):
        one, two, three = (
            LMNN(rank=2, start="random", max_iter=2, random_state=s).fit(X, y) for s in (0, 0, 1)
        )
    np.testing.assert_array_equal(one.omega_, two.omega_)
    assert not np.allclose(one.lambda_, three.lambda_)


def test_small_classes_and_few_rows():
    X, _, _ = random_problem(0, n_samples=8)
    y = np.array(["a"] * 4 + ["b"] * 3 + ["c"])
    assert LMNN(n_neighbors=5).fit(X, y).predict(X).shape == (8,)
    assert LMNN(n_neighbors=20).fit(X, y).predict(X).shape == (8,)


def test_equal_rows():
    X, y = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0), np.repeat(["a", "b"], 5)
    np.testing.assert_array_equal(LMNN().fit(X, y).predict(X), y)


def test_output_has_column_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    learner = LMNN(rank=2).fit(X, y).set_output(transform="pandas")
    mapped = learner.transform(X)
    assert isinstance(mapped, pd.DataFrame)
    assert mapped.columns.tolist() == ["lmnn0", "lmnn1"]
    polars = pytest.importorskip("polars")
    learner.set_output(transform="polars")
    assert isinstance(learner.transform(polars.from_pandas(X)), polars.DataFrame)


def test_invalid_input_raises(wine):
    X, y = wine
    with pytest.raises(InputError, match="rank=14 exceeds the number of features"):
        LMNN(rank=14).fit(X, y)
    with pytest.raises(InputError, match="single class, '1'"):
        LMNN().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(InputError, match="Every class has a single row"):
        LMNN().fit(X[:5], np.arange(5))
    with pytest.raises(InputError, match="All columns are constant"):
        LMNN().fit(np.full_like(X, 0.1), y)
    with pytest.raises(InputError, match="X contains NaN values"):
        LMNN().fit(np.where(X > 2, np.nan, X), y)
