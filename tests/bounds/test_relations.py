"""Tests of substitutes and complements: constrained intervals, groups and sums of weights."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from allrelevant import ClassificationBounds, InputError
from allrelevant.bounds.relations import group_labels, sum_range
from allrelevant.bounds.substitution import RAISED_SHARE
from allrelevant.datasets import make_planted_groups
from tests.bounds.fitted_tasks import FITTED, classification, make_tolerance
from tests.bounds.naive_limits import NaiveSet


def with_singletons(labels):
    """Give each ungrouped feature a separate label, as the adjusted Rand index requires."""
    return np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)


@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
def test_intervals_equal_those_of_a_cold_start(task):
    est = task(seed=2)
    problem = est._result.subproblems[0]
    (found,) = est.relations().problems
    naive = NaiveSet(problem, make_tolerance(est))
    weak = np.flatnonzero(problem.interval[found.features, 0] == 0)
    for i in weak[:2]:
        feature = found.features[i]
        low, high = problem.signed_interval[feature]
        at = RAISED_SHARE * max(-low, high)
        raised = (feature, at, np.inf) if high >= -low else (feature, -np.inf, -at)
        for limit, sizes in (((feature, 0.0, 0.0), found.dropped), (raised, found.raised)):
            expected = naive.sizes([[limit]])
            np.testing.assert_allclose(sizes[:, i], expected[found.features], atol=1e-6)
        assert not found.dropped[i, i].any()  # the dropped weight is exactly zero


def test_known_solutions_reduce_the_number_of_programs():
    effort = classification(seed=2).relations().effort
    assert effort.spared > 0
    assert effort.fallbacks <= 0.02 * effort.programs  # rounding may cause a few


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found_and_jointly_strong(seed):
    data = make_planted_groups(300, flip=0.05, random_state=seed)
    bounds = ClassificationBounds(cutoff="probes", random_state=0).fit(data.X, data.y)
    relations = bounds.relations()
    assert (
        adjusted_rand_score(with_singletons(data.group), with_singletons(relations.labels_)) >= 0.95
    )
    assert {group.relevance for group in relations.feature_groups_} == {"strong"}


def test_complements_have_positive_relations():
    """Two features that are informative only together have a positive relation.

    The second feature is the noise in the first, so it is useless on its own.
    """
    rng = np.random.RandomState(0)
    signal, noise, other = rng.normal(size=(3, 300))
    X = np.column_stack([signal + noise, noise, other, rng.normal(size=300), signal + 0.5 * other])
    y = (signal + other > 0).astype(int)
    relations = ClassificationBounds(C=1.0, cutoff=0.3).fit(X, y).relations()
    assert relations.relations_[1, 0] > 0.5
    assert relations.kind(1, 0) == "complements"


def test_result_does_not_depend_on_n_jobs():
    data = make_planted_groups(120, n_irrelevant=2, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.3).fit(data.X, data.y)
    first, second = est.relations(), est.set_params(n_jobs=2).relations()
    np.testing.assert_array_equal(first.relations_, second.relations_)
    assert [(g.lower, g.upper) for g in first.feature_groups_] == [
        (g.lower, g.upper) for g in second.feature_groups_
    ]


@pytest.mark.parametrize("seed", range(3))
def test_group_sums_equal_exhaustive_search_over_signs(seed):
    est = classification(seed)
    naive = NaiveSet(est._result.subproblems[0], make_tolerance(est))
    for members in ([1, 2], [1, 2, 3, 4], [0, 5, 6]):
        found = sum_range(est._result.subproblems[0], np.array(members))
        assert found.tolist() == pytest.approx(naive.sum_range(members), abs=1e-6)


def test_groups_are_merged_by_mean_relation():
    strength = np.array(
        [[0.0, 0.9, 0.7, 0.0], [0.9, 0.0, 0.2, 0.0], [0.7, 0.2, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    )
    assert group_labels(-strength).tolist() == [0, 0, 1, 2]  # (0.7 + 0.2) / 2 is below 0.5
    assert group_labels(-strength, threshold=0.4).tolist() == [0, 0, 0, 1]
    assert group_labels(np.zeros((1, 1))).tolist() == [0]
    assert group_labels(np.zeros((0, 0))).tolist() == []


def test_tables_for_several_classes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 4))
    X[:, 3] = X[:, 2]
    y = np.argmax(X[:, :3] + 0.3 * rng.normal(size=(150, 3)), axis=1)
    relations = ClassificationBounds(C=0.3, cutoff=0.3).fit(X, y).relations()
    assert relations.class_relations_.shape == (3, 4, 4)
    assert relations.kind(2, 3) == "substitutes"
    assert relations.labels_[2] == relations.labels_[3] != relations.labels_[0]
    frame = relations.to_frame()
    assert frame["kind"].iloc[0] == "substitutes"
    assert len(frame) == 12
    together = relations.groups_to_frame().set_index("relevance")
    assert ["x2", "x3"] in together["features"].tolist()


def test_no_relations_without_relevant_features():
    est = classification(seed=0)
    none = est.set_params(cutoff=1e6)
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 3))
    found = none.fit(X, (X[:, 0] > 0).astype(int)).relations()
    assert found.feature_groups_ == []
    assert not found.relations_.any()
    assert len(found.to_frame()) == 0


def test_substitutes_are_a_part_of_the_relations():
    for task in FITTED:
        est = task(seed=0)
        relations = est.relations()
        names = relations.feature_names
        found = est.substitutes(range(est.n_features_in_))
        assert list(found) == names[: est.n_features_in_]
        for k, others in enumerate(found.values()):
            effects = -relations.class_relations_[:, :, k].min(axis=0)
            expected = [names[j] for j in np.argsort(-effects, kind="stable") if effects[j] >= 0.5]
            assert others == expected
        assert est.substitutes([names[1]]) == {names[1]: found[names[1]]}


def test_substitutes_of_an_unknown_feature():
    with pytest.raises(InputError, match="No feature is called 'absent'"):
        FITTED[0](seed=0).substitutes(["absent"])
