"""Tests of minimum-cost feature sets against an exhaustive search over all subsets."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from allrelevant import ClassificationBounds, InputError, RelevanceWarning
from allrelevant.bounds.design import (
    MAX_FEATURES_FOR_HELD_OUT_SCORE,
    DesignRequest,
    read_costs,
)
from allrelevant.datasets import make_linear_classification, make_planted_groups
from allrelevant.resampling import stratified_folds
from tests.bounds.fitted_tasks import FITTED, classification, make_tolerance
from tests.bounds.naive_limits import NaiveSet


def compare_with_all_subsets(est, costs):
    """Check that all minimal feature sets are found, in order of cost."""
    naive = NaiveSet(est._result.subproblems[0], make_tolerance(est))
    minimal = naive.minimal_sets()
    design = est.cheapest(costs, n_solutions=len(minimal) + 1)
    assert design.complete
    assert {frozenset(s.indices.tolist()) for s in design} == set(minimal)
    expected = sorted(sum(costs[j] for j in members) for members in minimal)
    assert [solution.cost for solution in design] == pytest.approx(expected)
    core = frozenset.intersection(*minimal)
    assert design.core() == [design.feature_names[j] for j in sorted(core)]
    for solution in design:
        check_model(est, solution)


def check_model(est, solution):
    assert solution.proven
    assert solution.gap == 0
    model = solution.model
    assert np.isin(np.flatnonzero(model.coef_), solution.indices).all()
    offset = np.atleast_1d(model.intercept_)
    assert est._result.subproblems[0].models.violation(model.coef_[None], offset[None])[0] <= 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_equals_exhaustive_search(seed):
    est = classification(seed, n_irrelevant=1)
    costs = np.random.RandomState(seed).uniform(0.5, 5.0, est.n_features_in_)
    compare_with_all_subsets(est, costs)


@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
def test_every_task_has_predictors(task):
    est = task(seed=0)
    design = est.cheapest(n_solutions=2)
    samples = est._result.subproblems[0].baseline.data
    for solution in design:
        assert solution.cost == len(solution.features)
        assert np.isfinite([solution.score, solution.score_error]).all()
        predicted = solution.predictor.predict(samples.X)
        assert len(predicted) == samples.n_samples
    assert design.held_out_score is not None
    assert np.isfinite([design.held_out_score, design.held_out_score_error]).all()
    assert design.notes == ()
    assert len(design.to_frame()) == len(design)
    assert design.alternatives(0) == [s for s in design if 0 not in s.indices]


def test_must_use_and_must_not_use():
    data = make_linear_classification(n_strong=1, n_weak=4, n_irrelevant=2, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)
    (with_noise,) = est.cheapest(must_use=[6], must_not_use=["x1"])
    assert 6 in with_noise.indices
    assert 1 not in with_noise.indices
    assert set(np.flatnonzero(with_noise.model.coef_)) <= set(with_noise.indices)
    assert with_noise.cost == 1 + est.cheapest(must_not_use=[1])[0].cost
    with pytest.raises(InputError, match="at least one feature in must_not_use"):
        est.cheapest(must_not_use=[0])
    with pytest.raises(InputError, match="both must_use and must_not_use"):
        est.cheapest(must_use=[1], must_not_use=["x1"])


def test_unneeded_features_are_omitted_even_at_zero_cost():
    data = make_linear_classification(n_strong=1, n_weak=2, n_irrelevant=3, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)
    design = est.cheapest([1, 0, 0, 0, 0, 0], n_solutions=10)
    assert sorted(s.indices.tolist() for s in design) == [[0, 1], [0, 2]]


def test_all_classes_use_one_feature_set():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 5))
    X[:, 3] = X[:, 2]
    y = np.argmax(X[:, :3] + 0.3 * rng.normal(size=(150, 3)), axis=1)
    est = ClassificationBounds(C=0.3, cutoff=0.3).fit(X, y)
    design = est.cheapest([1, 1, 1, 2, 1], n_solutions=9)
    assert [s.indices.tolist() for s in design][:2] == [[0, 1, 2], [0, 1, 3]]
    assert design[0].model.coef_.shape == (3, 5)
    assert (design[0].predictor.predict(X) == y).mean() > 0.8
    assert design[0].score == pytest.approx(design.baseline_score, abs=0.05)
    for index, problem in enumerate(est._result.subproblems):
        coef, offset = design[0].model.coef_[index], design[0].model.intercept_[index]
        assert problem.models.violation(coef[None], np.array([[offset]]))[0] <= 1e-6


def test_after_what_if():
    est = classification(seed=0)
    for solution in est.what_if({1: "drop"}).cheapest(n_solutions=3):
        assert 1 not in solution.indices
        assert solution.model.coef_[1] == 0
    # A dropped feature in must_use belongs to the set, but its weight stays zero.
    (solution,) = est.what_if({1: "drop"}).cheapest(must_use=[1])
    assert 1 in solution.indices
    assert solution.model.coef_[1] == 0


def test_timeout_returns_the_cheapest_known_model():
    data = make_planted_groups(120, n_pairs=3, n_triples=3, noise=0.3, flip=0.1, random_state=0)
    est = ClassificationBounds(C=0.1, cutoff=0.1, norm_slack=0.3, loss_slack=0.3).fit(
        data.X, data.y
    )
    with pytest.warns(RelevanceWarning, match="not proven to be the smallest") as caught:
        design = est.cheapest(n_solutions=5, max_seconds=1e-3)
    assert caught[0].filename == __file__
    (only,) = design
    assert not design.complete
    assert not only.proven
    assert 0 < only.gap <= only.cost
    offset = np.array([[only.model.intercept_]])
    assert est._result.subproblems[0].models.violation(only.model.coef_[None], offset)[0] <= 1e-6
    (optimum,) = est.cheapest(held_out_score=False)
    assert only.cost - only.gap <= optimum.cost <= only.cost


def test_warning_states_the_possible_saving():
    data = make_planted_groups(200, n_pairs=4, n_triples=4, noise=0.3, flip=0.1, random_state=0)
    est = ClassificationBounds(C=0.1, cutoff=0.1, norm_slack=0.3, loss_slack=0.3)
    est.fit(data.X, data.y)
    costs = np.linspace(0.5, 2.5, est.n_features_in_)
    with pytest.warns(RelevanceWarning, match="not proven to be the cheapest") as caught:
        (only,) = est.cheapest(costs, max_seconds=1e-3, held_out_score=False)
    assert f"a cost up to {only.gap:g} lower" in str(caught[0].message)
    with pytest.warns(RelevanceWarning) as caught:
        (only,) = est.cheapest(max_seconds=1e-3, held_out_score=False)
    assert only.gap == int(only.gap)
    assert f"up to {only.gap:g} fewer features" in str(caught[0].message)


def test_search_has_a_time_limit_by_default(monkeypatch):
    limits = []
    parse = DesignRequest.parse.__func__  # type: ignore[attr-defined]

    def recording(cls, *arguments):
        request = parse(cls, *arguments)
        limits.append(request.max_seconds)
        return request

    monkeypatch.setattr(DesignRequest, "parse", classmethod(recording))
    classification(seed=0).cheapest(held_out_score=False)
    assert limits == [60.0]


def named_table(est):
    X = est._result.subproblems[0].baseline.data.X
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])


def test_selector_interface():
    est = classification(seed=0)
    X = named_table(est)
    design = est.cheapest(n_solutions=2)
    for chosen in (design, *design):
        mask, indices = chosen.get_support(), chosen.get_support(indices=True)
        assert mask.dtype == bool
        assert mask.shape == (est.n_features_in_,)
        assert np.flatnonzero(mask).tolist() == indices.tolist()
        assert chosen.get_feature_names_out().tolist() == [f"x{j}" for j in indices]
        np.testing.assert_array_equal(chosen.transform(X.to_numpy()), X.to_numpy()[:, indices])
        np.testing.assert_array_equal(chosen.transform(X.to_numpy().tolist()), X.iloc[:, indices])
        sparse = chosen.transform(sp.csr_array(X.to_numpy()))
        assert sp.issparse(sparse)
        np.testing.assert_array_equal(sparse.toarray(), X.iloc[:, indices])
    assert design.get_support().tolist() == design[0].get_support().tolist()


def test_transform_keeps_the_type_and_the_names_of_a_data_frame():
    data = make_linear_classification(60, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    X = pd.DataFrame(data.X, columns=["a", "b", "c", "d"])
    design = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, data.y).cheapest()
    small = design.transform(X)
    assert list(small.columns) == design[0].features == design.get_feature_names_out().tolist()
    assert design.transform(pl.DataFrame(X.to_dict("list"))).columns == list(small.columns)
    with pytest.raises(InputError, match="differ from those used for the fit"):
        design.transform(X[["b", "a", "c", "d"]])
    with pytest.raises(InputError, match=r"shape \(60, 3\).* 4 features"):
        design.transform(X[["a", "b", "c"]])


def cheapest_scores_per_fold(X, y, costs, seed, **parameters):
    """Return the held-out score of the minimum-cost feature set in each fold."""
    scores = []
    for train, test in stratified_folds(np.where(y > 0, 1.0, -1.0), 5, seed):
        est = ClassificationBounds(cutoff=0.1, **parameters).fit(X[train], y[train])
        (cheapest,) = est.cheapest(costs=costs, held_out_score=False)
        if not cheapest.features:
            scores.append((y[test] == np.median(y[train])).mean())
            continue
        small = ClassificationBounds(cutoff=0.1, **parameters)
        small.fit(X[train][:, cheapest.indices], y[train])
        scores.append(small.score(X[test][:, cheapest.indices], y[test]))
    return np.array(scores)


@pytest.mark.filterwarnings("ignore:There is no evidence")
@pytest.mark.parametrize("permute", [False, True], ids=["labels", "permuted"])
def test_held_out_score_chooses_the_set_in_each_fold(permute):
    data = make_linear_classification(60, n_strong=2, n_weak=4, n_irrelevant=9, random_state=0)
    y = np.random.RandomState(1).permutation(data.y) if permute else data.y
    parameters: dict[str, Any] = {"C": 0.5, "norm_slack": 0.2}
    est = ClassificationBounds(cutoff=0.1, random_state=3, **parameters)
    # With different costs, only one set has the minimum cost.
    costs = np.random.RandomState(0).uniform(1.0, 1.01, data.X.shape[1])
    design = est.fit(data.X, y).cheapest(costs=costs, n_solutions=2)
    scores = cheapest_scores_per_fold(data.X, y, costs, 3, **parameters)
    assert design.held_out_score == pytest.approx(scores.mean())
    assert design.held_out_score_error == pytest.approx(scores.std(ddof=1) / np.sqrt(len(scores)))
    if permute:
        assert scores.mean() < 0.5 < design[0].score
    record = design.to_dict()
    assert record["held_out_score"] == design.held_out_score
    assert f"Held-out score, with the set chosen anew in each fold: {scores.mean():.3f}" in str(
        design
    )


def test_held_out_score_does_not_depend_on_the_number_of_workers():
    data = make_linear_classification(60, n_strong=1, n_weak=3, n_irrelevant=3, random_state=0)
    serial, parallel = (
        ClassificationBounds(C=0.5, cutoff=0.1, n_jobs=n_jobs).fit(data.X, data.y).cheapest()
        for n_jobs in (1, 2)
    )
    assert serial.held_out_score == parallel.held_out_score


def test_held_out_score_is_computed_for_small_tables_by_default():
    n = MAX_FEATURES_FOR_HELD_OUT_SCORE + 1
    data = make_linear_classification(60, n_strong=1, n_weak=2, n_irrelevant=n - 3, random_state=0)
    wide = ClassificationBounds(C=0.1, cutoff=0.1).fit(data.X, data.y)
    without = wide.cheapest()
    assert without.held_out_score is None
    assert "optimistic" in without.notes[0]
    assert "optimistic" in str(without)
    assert "Held-out" not in str(without)
    assert wide.cheapest(held_out_score=True).held_out_score is not None
    small = ClassificationBounds(C=0.1, cutoff=0.1).fit(data.X[:, 1:], data.y)
    assert small.cheapest().held_out_score is not None
    assert small.cheapest(held_out_score=False).held_out_score is None


def test_held_out_score_after_what_if():
    est = classification(seed=0).what_if({1: "drop"})
    assert est.cheapest().held_out_score is None
    with pytest.raises(InputError, match="not supported after what_if"):
        est.cheapest(held_out_score=True)


def test_held_out_score_is_missing_if_a_fold_has_no_set():
    """The held-out score is missing if a feature that must not be used is necessary in a fold."""
    designs = (
        est.cheapest(must_not_use=[int(feature)])
        for est in map(classification, range(6))
        for feature in np.flatnonzero(est.interval_[:, 0] == 0)
    )
    incomplete = next(design for design in designs if design.held_out_score is None)
    assert "failed in a fold: Every equivalent model uses" in incomplete.notes[1]


def test_costs():
    names = ["a", "b"]
    assert read_costs(None, names).tolist() == [1.0, 1.0]
    assert read_costs({"b": 2, "a": 1.5}, names).tolist() == [1.5, 2.0]
    for costs, message in [
        ({"a": 1}, "no cost for feature 'b'"),
        ({"a": 1, "b": 1, "c": 1}, "no feature 'c'"),
        ([1, 2, 3], "shape"),
        ([1, -2], "nonnegative"),
        ([1, float("inf")], "finite"),
        (["x", "y"], "must be numbers"),
    ]:
        with pytest.raises(InputError, match=message):
            read_costs(costs, names)


def test_bad_requests():
    est = classification(seed=0)
    with pytest.raises(InputError, match="n_solutions"):
        est.cheapest(n_solutions=0)
    with pytest.raises(InputError, match="max_seconds"):
        est.cheapest(max_seconds=0)
    with pytest.raises(InputError, match="held_out_score"):
        est.cheapest(held_out_score="always")
    with pytest.raises(InputError, match="No feature is called"):
        est.cheapest().alternatives("nobody")
