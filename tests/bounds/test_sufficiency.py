"""Tests of the sufficiency of feature sets, compared with one LP per subset."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant import ClassificationBounds, InputError, Sufficiency
from allrelevant.bounds.cross_validation import cross_validated_score
from allrelevant.bounds.parameters import scaling_method
from allrelevant.bounds.sufficiency import find_missing, has_models
from allrelevant.bounds.tuning import Tuning
from allrelevant.datasets import make_linear_classification
from tests.bounds.fitted_tasks import FITTED, make_tolerance
from tests.bounds.naive_limits import NaiveSet


def naive_suffices(sets, members, n_features):
    others = [(j, 0.0, 0.0) for j in range(n_features) if j not in members]
    return all(naive.has_models(others) for naive in sets)


def naive_n_missing(sets, members, n_features):
    """Return the smallest number of features that must be added for a sufficient set."""
    others = [j for j in range(n_features) if j not in members]
    for size in range(len(others) + 1):
        for added in combinations(others, size):
            if naive_suffices(sets, {*members, *added}, n_features):
                return size
    raise AssertionError("All features together suffice.")


def compare_with_naive(est, seed, n_masks=4):
    """Check the sufficiency of random feature sets against naive results, and return them."""
    rng = np.random.RandomState(seed)
    subproblems = est._result.subproblems
    sets = [NaiveSet(problem, make_tolerance(est)) for problem in subproblems]
    found = []
    for _ in range(n_masks):
        is_relevant = rng.uniform(size=est.n_features_in_) < rng.uniform(0.2, 0.9)
        members = set(np.flatnonzero(is_relevant).tolist())
        suffices = has_models(subproblems, np.flatnonzero(~is_relevant))
        assert suffices == naive_suffices(sets, members, est.n_features_in_)
        missing, proven = find_missing(subproblems, is_relevant, max_seconds=None)
        assert proven
        assert not is_relevant[missing].any()
        assert len(missing) == naive_n_missing(sets, members, est.n_features_in_)
        assert naive_suffices(sets, {*members, *missing.tolist()}, est.n_features_in_)
        found.append(suffices)
    return found


@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
def test_equals_an_lp_for_each_subset(task):
    found = [suffices for seed in range(3) for suffices in compare_with_naive(task(seed), seed)]
    assert True in found
    assert False in found


def three_classes(cutoff=0.3):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 5))
    X[:, 3] = X[:, 2]
    y = np.argmax(X[:, :3] + 0.3 * rng.normal(size=(60, 3)), axis=1)
    return ClassificationBounds(C=0.3, cutoff=cutoff).fit(X, y)


def test_every_class_needs_a_model():
    found = compare_with_naive(three_classes(), seed=0, n_masks=20)
    assert True in found
    assert False in found


@pytest.mark.parametrize("task", [*FITTED, three_classes], ids=lambda task: task.__name__)
def test_every_task(task):
    est = task() if task is three_classes else task(seed=0)
    found = est.sufficiency()
    assert found.suffices == (not found.missing)
    assert found.proven
    names = np.array(found.relevant)
    assert names.tolist() == est.get_feature_names_out().tolist()
    baselines = [problem.baseline for problem in est._result.subproblems]
    for columns, score, error in [
        (np.flatnonzero(est.get_support()), found.score, found.score_error),
        (np.arange(est.n_features_in_), found.score_all, found.score_all_error),
    ]:
        expected = cross_validated_score(baselines, columns, scaling_method(est), Tuning(0))
        assert (score, error) == pytest.approx(expected)
    assert json.loads(json.dumps(found.to_dict()))["missing"] == found.missing
    assert f"Cross-validated {est.task.wording.score}: {found.score:.3f} ± " in str(found)


def weak_copies(cutoff, table=np.asarray, **parameters):
    """Return bounds fitted to data with one strong, two weak and three irrelevant features."""
    data = make_linear_classification(80, n_strong=1, n_weak=2, n_irrelevant=3, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=cutoff, **parameters)
    return est.fit(table(data.X), data.y)


@pytest.mark.parametrize("table", [np.asarray, sp.csr_array])
def test_relevant_features_that_do_not_suffice(table):
    upper = weak_copies(0.0, table).interval_[1:3, 1].max()
    est = weak_copies(1.01 * upper, table)
    assert [str(name) for name in est.get_feature_names_out()] == ["x0"]
    found = est.sufficiency()
    assert not found.suffices
    assert found.proven
    assert len(found.missing) == 1
    assert found.missing[0] in ("x1", "x2")
    assert str(found).startswith(
        "The only relevant feature does not suffice for an equivalent model. At least 1 further "
        f"feature is needed, for example {found.missing[0]!r}. Cross-validated accuracy: "
    )
    with pytest.raises(InputError, match="must_not_use"):
        est.cheapest(must_not_use=[j for j in range(6) if not est.get_support()[j]])
    without_x0 = [j for j in range(1, 6) if f"x{j}" not in found.missing]
    assert est.cheapest(must_not_use=without_x0)[0].features == ["x0", *found.missing]


def test_relevant_features_that_suffice():
    found = weak_copies(0.05).sufficiency()
    assert found.suffices
    assert str(found).startswith(
        f"The {len(found.relevant)} relevant features suffice for an equivalent model. "
        f"Cross-validated accuracy: {found.score:.3f} ± {found.score_error:.3f} with these "
        f"features, {found.score_all:.3f} ± {found.score_all_error:.3f} with all 6."
    )


def test_no_relevant_feature():
    found = weak_copies(1e6).sufficiency()
    assert not found.suffices
    assert found.relevant == []
    assert len(found.missing) == 2
    assert "No feature is relevant, but every equivalent model uses features." in str(found)
    assert "without features" in str(found)
    assert found.score < 0.7 < found.score_all


@pytest.mark.filterwarnings("ignore:No feature improves")
def test_baseline_without_features():
    data = make_linear_classification(80, n_strong=1, n_weak=2, n_irrelevant=3, random_state=0)
    est = ClassificationBounds(C=1e-7, cutoff=0.1).fit(data.X, data.y)
    found = est.sufficiency()
    assert found.suffices
    assert "a model without features is equivalent" in str(found)
    assert found.score == found.score_all
    design = est.cheapest()
    assert design[0].features == []
    assert "has 0 features and costs 0" in str(design)


def test_constraints_apply():
    est = weak_copies(0.05)
    assert est.what_if({1: "drop"}).sufficiency().suffices
    upper = 0.5 * est.interval_[1, 1]
    with pytest.raises(InputError, match="single set of models"):
        est.what_if({5: (1e-3, None)}).sufficiency()
    assert "x1" in est.what_if({1: (upper, None)}).sufficiency().relevant


def test_text_of_an_unproven_search():
    found = Sufficiency(
        suffices=False,
        relevant=["a", "b"],
        missing=["c", "d"],
        proven=False,
        score=0.5,
        score_error=0.1,
        score_all=0.75,
        score_all_error=0.1,
        score_name="accuracy",
        n_features=9,
    )
    assert str(found) == (
        "The 2 relevant features do not suffice for an equivalent model. 2 further features are "
        "enough ('c' and 'd'). Fewer may be enough, because the search reached its time "
        "limit. Cross-validated accuracy: 0.500 ± 0.100 with these features, 0.750 ± 0.100 with "
        "all 9."
    )
    assert "At least 2 further features are needed" in str(replace(found, proven=True))


def test_time_limit():
    est = weak_copies(1e6)
    with pytest.raises(InputError, match="max_seconds"):
        est.sufficiency(max_seconds=0)
    found = est.sufficiency(max_seconds=1e-9)
    assert not found.proven
    assert len(found.missing) >= 2
    assert "time limit" in str(found)
