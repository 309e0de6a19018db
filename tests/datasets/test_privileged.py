"""Tests that only the relevant privileged features explain the slack variables."""

import numpy as np
import pytest
from scipy.optimize import linprog

from allrelevant import InputError
from allrelevant.datasets import make_privileged
from tests.datasets.truth import association, copies_of_each, counts, in_order

TASKS = ["classification", "regression", "ordinal", "ranking"]
CLASS_TASKS = ["classification", "ordinal", "ranking"]
FIRST_COPIES = [0, 1, 2, 3, 4, 6, 8]


def explained(data, difficulty=1.0):
    """Compute the slack of each sample from its two informative privileged features."""
    return difficulty * data.privileged[:, :2].sum(axis=1)


def sides(y):
    """Return +1 for samples above a class boundary and -1 below, one array row per boundary."""
    return np.where(y > np.arange(y.max())[:, None], 1.0, -1.0)


def largest_slack(data, slack):
    """Return the largest slack of each sample over all class boundaries.

    Each boundary is as high as the given slack allows.
    """
    total, side = data.X[:, FIRST_COPIES].sum(axis=1), sides(data.y)
    boundary = np.where(side > 0, total + slack - 1.0, np.inf).min(axis=1)
    return np.maximum(0.0, 1.0 - side * (total - boundary[:, None])).max(axis=0)


def least_slack(data, X, Z):
    """Return the smallest mean slack of a model whose slack is a linear function of Z.

    Weights have a small cost. The variables are the positive and negative parts of the weights of
    X, the boundaries, the positive and negative parts of the weights of Z, and the offset of Z.
    """
    n_samples, regression = len(X), data.y.dtype == float
    signs = np.array([[1.0], [-1.0]]) * np.ones(n_samples) if regression else sides(data.y)
    boundaries = np.ones((2, 1)) if regression else np.eye(len(signs))
    slack = np.hstack([Z, -Z, np.ones((n_samples, 1))])
    rows = [np.hstack([np.zeros((n_samples, 2 * X.shape[1] + boundaries.shape[1])), slack])]
    limits = [np.zeros(n_samples)]
    for sign, boundary in zip(signs, boundaries, strict=True):
        model = np.hstack([X, -X, -np.tile(boundary, (n_samples, 1))])
        rows.append(np.hstack([sign[:, None] * model, slack]))
        limits.append(sign * data.y if regression else np.ones(n_samples))
    kinds = [2 * X.shape[1], boundaries.shape[1], 2 * Z.shape[1], 1]
    mean_slack = rows[0].mean(axis=0)
    cost = mean_slack + np.repeat([1e-3, 0.0, 1e-3, 0.0], kinds)
    lowest = np.repeat([0.0, -np.inf, 0.0, -np.inf], kinds)
    bounds = np.column_stack([lowest, np.full(len(lowest), np.inf)])
    result = linprog(cost, A_ub=-np.vstack(rows), b_ub=-np.concatenate(limits), bounds=bounds)
    assert result.status == 0
    return mean_slack @ result.x


@pytest.mark.parametrize("task", TASKS)
def test_shapes_order_and_copies(task):
    data = make_privileged(
        task, 60, n_weak=4, n_irrelevant=1, n_strong_privileged=2, n_weak_privileged=5
    )
    assert data.X.shape == (60, 9)
    assert data.privileged.shape == (60, 10)
    assert counts(data.relevance) == (4, 4, 1)
    assert counts(data.privileged_relevance) == (2, 5, 3)
    assert in_order(data.relevance)
    assert in_order(data.privileged_relevance)
    assert copies_of_each(data.X[:, 4:8]).tolist() == [2, 2, 2, 2]
    assert copies_of_each(data.privileged[:, 2:7]).tolist() == [3, 3, 3, 2, 2]


def test_targets_match_the_task():
    assert np.bincount(make_privileged("classification", 50).y).tolist() == [25, 25]
    assert np.bincount(make_privileged("ordinal", 60, n_classes=3).y).tolist() == [20, 20, 20]
    assert np.bincount(make_privileged("ranking", 50, positive=0.1).y).tolist() == [45, 5]
    assert make_privileged("regression", 50).y.dtype == float


@pytest.mark.parametrize("difficulty", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("task", CLASS_TASKS)
def test_slack_of_classes_equals_the_explained_slack(task, difficulty):
    data = make_privileged(task, difficulty=difficulty, random_state=2)
    slack = explained(data, difficulty)
    np.testing.assert_allclose(largest_slack(data, slack), slack, atol=1e-10)


@pytest.mark.parametrize("difficulty", [0.5, 1.0, 4.0])
def test_regression_error_equals_the_explained_slack(difficulty):
    data = make_privileged("regression", difficulty=difficulty, random_state=2)
    error = data.y - data.X[:, FIRST_COPIES].sum(axis=1)
    np.testing.assert_allclose(np.abs(error), explained(data, difficulty), atol=1e-10)
    assert 0.3 < np.mean(error[np.abs(error) > 1e-10] > 0) < 0.7


@pytest.mark.parametrize("n_strong_privileged", [1, 2, 8])
def test_about_a_third_of_the_rows_have_slack(n_strong_privileged):
    data = make_privileged(
        "regression", n_strong_privileged=n_strong_privileged, n_weak_privileged=0, random_state=0
    )
    strong = data.privileged[:, data.privileged_relevance == "strong"]
    assert np.mean(strong.sum(axis=1) > 0) == pytest.approx(1 / 3, abs=0.04)
    assert (data.privileged >= 0).all()


def test_no_privileged_feature_is_constant_with_few_rows():
    data = make_privileged("ranking", 10, n_strong_privileged=20, random_state=0)
    assert (np.ptp(data.privileged, axis=0) > 0).all()


@pytest.mark.parametrize("task", TASKS)
def test_strong_privileged_features_are_necessary_and_relevant_ones_suffice(task):
    data = make_privileged(
        task, 150, n_strong=2, n_weak=2, n_irrelevant=2, n_classes=3, random_state=0
    )
    X, Z = data.X, data.privileged
    least = least_slack(data, X, Z)
    assert least == pytest.approx(explained(data).mean(), rel=0.02)
    assert least_slack(data, X, Z[:, :3]) == pytest.approx(least, rel=0.02)
    assert least_slack(data, X, Z[:, [0, 2, 3, 4, 5]]) == pytest.approx(least, rel=0.02)
    assert least_slack(data, X, Z[:, 1:]) > 1.5 * least
    assert least_slack(data, X, Z[:, [0, 3, 4, 5]]) > 1.5 * least
    assert least_slack(data, X[:, 1:], Z) > 1.5 * least


@pytest.mark.parametrize("task", TASKS)
def test_irrelevant_features_are_independent_of_target_and_slack(task):
    tables = [make_privileged(task, 300, random_state=seed) for seed in range(30)]
    slack = [association(t.privileged, explained(t)) for t in tables]
    target = [association(t.X, t.y) for t in tables]
    assert 0.6 < np.mean(slack, axis=0)[3:].mean() < 1.5
    assert np.mean(slack, axis=0)[:3].min() > 10
    assert 0.7 < np.mean(target, axis=0)[10:].mean() < 1.3
    assert np.mean(target, axis=0)[:10].min() > 10


def test_noise_is_added_to_both_tables_but_not_to_the_target():
    clean = make_privileged("ordinal", random_state=3)
    noisy = make_privileged("ordinal", noise=0.5, random_state=3)
    np.testing.assert_array_equal(clean.y, noisy.y)
    assert np.std(noisy.X - clean.X) == pytest.approx(0.5, rel=0.05)
    assert np.std(noisy.privileged - clean.privileged) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("task", TASKS)
def test_same_seed_gives_same_data(task):
    one, two = (make_privileged(task, random_state=5) for _ in range(2))
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    other = make_privileged(task, random_state=6)
    assert not np.array_equal(one.privileged, other.privileged)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "clustering"}, "task must be one of classification, regression"),
        ({"difficulty": 0.0}, "difficulty must be positive"),
        ({"n_weak": 1}, "n_weak must be 0"),
        ({"n_weak_privileged": 1}, "n_weak_privileged must be 0"),
        ({"n_strong_privileged": 0, "n_weak_privileged": 0}, "n_strong_privileged"),
        ({"n_irrelevant_privileged": -1}, "negative"),
        ({"task": "ordinal", "n_classes": 1}, "n_classes"),
        ({"task": "ranking", "positive": 1.0}, "positive"),
    ],
)
def test_invalid_parameters_raise(arguments, message):
    with pytest.raises(InputError, match=message):
        make_privileged(**{"task": "classification", **arguments})
