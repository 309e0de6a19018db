"""Tests of bounds under user constraints, compared with a naive implementation."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from allrelevant import ClassificationBounds, InfeasibleConstraintsError, InputError, RankingBounds
from allrelevant.bounds import pairs as pairs_module
from allrelevant.bounds.programs.equivalent_models import WeightLimit
from allrelevant.bounds.programs.pairwise import CuttingPlaneRows
from allrelevant.bounds.solver.constrained import ConstrainedModels
from allrelevant.datasets import make_linear_classification, make_ranking
from tests.bounds.fitted_tasks import FITTED, classification, make_tolerance
from tests.bounds.naive_limits import NaiveSet, sign_combinations


def random_constraints(est, rng):
    """Draw random user constraints, and return them for ``what_if`` and for ``NaiveSet``."""
    problem = est._result.subproblems[0]
    signed = bool(rng.randint(2))
    constraints, naive_constraints = {}, []
    for j in rng.permutation(len(problem.interval))[: rng.randint(1, 4)]:
        j = int(j)
        low, high = problem.signed_interval[j] if signed else problem.interval[j]
        kind = rng.choice(["drop", "keep", "value", "range", "from", "to"])
        at = sorted(rng.uniform(low - 0.1 * (high - low), high + 0.02 * (high - low), size=2))
        at = at if signed else [max(0.0, value) for value in at]
        ends = {
            "drop": (0.0, 0.0),
            "keep": (0.1, np.inf),
            "value": (at[0], at[0]),
            "range": (at[0], at[1]),
            "from": (at[0], np.inf),
            "to": (-np.inf if signed else 0.0, at[1]),
        }[kind]
        constraints[j] = {"drop": "drop", "keep": "keep", "value": at[0]}.get(
            kind, tuple(None if np.isinf(end) else end for end in ends)
        )
        naive_constraints.append((j, *ends, signed and kind not in ("drop", "keep")))
    return constraints, signed, naive_constraints


def compare(est, seed):
    """Compare ``what_if`` with a naive result for random constraints; return their feasibility."""
    constraints, signed, naive_constraints = random_constraints(est, np.random.RandomState(seed))
    naive = NaiveSet(est._result.subproblems[0], make_tolerance(est))
    expected = naive.sizes(sign_combinations(naive_constraints))
    if expected is None:
        with pytest.raises(InfeasibleConstraintsError) as caught:
            est.what_if(constraints, signed=signed)
        check_conflict(caught.value, naive, naive_constraints)
        return False
    found = est.what_if(constraints, signed=signed)
    np.testing.assert_allclose(found._result.subproblems[0].interval, expected, atol=1e-6)
    assert found._result.subproblems[0].gap.max() <= 1e-6
    return True


def check_conflict(error, naive, constraints):
    """Check that the reported conflict is infeasible, but feasible without any one constraint."""
    by_feature = {constraint[0]: constraint for constraint in constraints}
    conflict = [by_feature[constraint.feature] for constraint in error.constraints]
    assert not any(naive.has_models(limits) for limits in sign_combinations(conflict))
    for i, (constraint, relaxation) in enumerate(zip(conflict, error.relaxations, strict=True)):
        rest = conflict[:i] + conflict[i + 1 :]
        assert any(naive.has_models(limits) for limits in sign_combinations(rest))
        assert relaxation > 0
        assert is_feasible(naive, [*rest, relax(constraint, relaxation + 1e-6)])
        assert not is_feasible(naive, [*rest, relax(constraint, relaxation - 1e-5)])


def is_feasible(naive, constraints):
    return any(naive.has_models(limits) for limits in sign_combinations(constraints))


def relax(constraint, by):
    feature, low, high, signed = constraint
    low = low - by if signed else max(0.0, low - by)
    return feature, low, high + by, signed


@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
def test_bounds_equal_those_of_a_cold_start(task):
    est = task(seed=3)
    feasible = [compare(est, seed) for seed in range(4)]
    assert any(feasible)


def test_conflicts_are_named_and_minimal():
    est = classification(seed=1)
    feasible = [compare(est, seed) for seed in range(100, 110)]
    assert not all(feasible)


@pytest.mark.parametrize("formulation", ["separate", "joint"])
def test_witnesses_are_equivalent_models_that_satisfy_the_constraints(formulation):
    data = make_linear_classification(60, n_weak=4, flip=0.1, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.1, formulation=formulation).fit(data.X, data.y)
    upper = est.interval_[5, 1]
    found = est.what_if({4: "drop", 5: (0.3 * upper, 0.6 * upper)})
    models = est._result.subproblems[0].models
    for feature in range(est.n_features_in_):
        for side in (0, 1):
            model = found.witness(feature, "upper" if side else "lower")
            assert model.coef_[4] == 0
            assert 0.3 * upper - 1e-12 <= abs(model.coef_[5]) <= 0.6 * upper + 1e-12
            assert abs(model.coef_[feature]) == pytest.approx(
                found.interval_[feature, side], abs=1e-7
            )
            offset = np.array([model.intercept_])
            assert models.violation(model.coef_[None], offset[None])[0] <= 1e-6


def droppable(problem):
    """Return the features with a lower bound of zero, in order of decreasing upper bound."""
    lower, upper = problem.interval.T
    return np.flatnonzero(lower == 0)[np.argsort(-upper[lower == 0], kind="stable")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
def test_dropped_feature_has_exactly_zero_weight(task, seed):
    """The weight of a dropped feature is exactly zero, without rounding errors."""
    est = task(seed)
    for feature in droppable(est._result.subproblems[0])[:3]:
        (problem,) = est.what_if({int(feature): "drop"})._result.subproblems
        assert problem.baseline.model.weights[feature] == 0
        assert not problem.solved.weights.coef[:, [feature]].toarray().any()
        for values in (problem.interval, problem.signed_interval, problem.gap):
            assert not values[feature].any()
            assert not np.signbit(values[feature]).any()
        for side in (0, 1):
            assert problem.witness(int(feature), side).weights[feature] == 0


def test_dropped_feature_has_zero_weight_without_a_starting_vertex():
    data = make_linear_classification(60, n_weak=4, flip=0.1, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.1, formulation="joint").fit(data.X, data.y)
    for feature in droppable(est._result.subproblems[0]):
        (problem,) = est.what_if({int(feature): "drop"})._result.subproblems
        assert problem.baseline.model.weights[feature] == 0
        assert not problem.solved.weights.coef[:, [feature]].toarray().any()


def test_widened_limits_do_not_widen_the_solutions():
    """Solutions satisfy the original limits, although the solver gets slightly wider ones."""
    problem = classification(seed=0)._result.subproblems[0]
    limit = WeightLimit(0, float(problem.solved.weights.attained[0, 1]), np.inf)
    widened = ConstrainedModels(problem.models, [limit], problem.baseline.model.C_).with_room()
    assert widened.limits[0].low < limit.low
    found = widened.ranges(problem.solved.weights)
    assert (found.coef[:, [0]].toarray() >= limit.low).all()
    assert found.attained[0, 0] >= limit.low


@pytest.mark.parametrize("seed", range(3))
def test_constraint_at_the_end_of_an_interval_is_feasible(seed):
    est = classification(seed)
    for feature in range(est.n_features_in_):
        for side in (0, 1):
            size = float(est.interval_[feature, side])
            found = est.what_if({feature: size})
            np.testing.assert_allclose(found.interval_[feature], size, atol=1e-6)
            witness = np.abs(est.witness(feature, "upper" if side else "lower").coef_)
            assert (found.interval_[:, 0] <= witness + 1e-5).all()
            assert (found.interval_[:, 1] >= witness - 1e-5).all()


def test_union_of_signs_excludes_zero():
    """A minimum absolute weight excludes zero, although both signs of the weight are possible."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] = rng.normal(size=60)
    y = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    est = ClassificationBounds(C=0.1, norm_slack=0.3, loss_slack=0.3, cutoff=0.01).fit(X, y)
    low, high = est.signed_interval_[2]
    size = 0.5 * min(-low, high)
    found = est.what_if({2: (size, None)})
    assert found.signed_interval_[2].tolist() == pytest.approx([low, high], abs=1e-7)
    assert found.interval_[2, 0] == pytest.approx(size, abs=1e-7)
    with pytest.raises(InputError, match="both signs of a weight"):
        found.relations()
    assert found.what_if({2: (size, None)}, signed=True).relations() is not None


def test_result_is_a_separate_estimator():
    est = classification(seed=0)
    before = est.interval_.copy()
    found = est.what_if({1: "drop"})
    np.testing.assert_array_equal(est.interval_, before)
    assert found.relevance_[1] == "irrelevant"
    assert found.constraints_ == ["|weight| of 'x1' = 0"]
    assert not hasattr(est, "constraints_")
    assert len(found.to_frame()) == est.n_features_in_
    assert found.baseline_.coef_[1] == 0  # exactly, on every computer
    again = found.what_if({3: "drop"})
    assert again.interval_[[1, 3], 1].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(
        again.interval_, est.what_if({1: "drop", 3: "drop"}).interval_, atol=1e-7
    )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).interval_, found.interval_)
    assert not hasattr(clone(found), "constraints_")


def test_refit_discards_the_constraints():
    data = make_linear_classification(60, n_weak=2, random_state=0)
    est = ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)
    fresh = est.what_if({5: "drop"}).fit(data.X, data.y)
    assert not hasattr(fresh, "constraints_")
    np.testing.assert_array_equal(fresh.interval_, est.interval_)


def test_one_vs_rest_constraints():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 4))
    X[:, 3] = X[:, 2]
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.3 * rng.normal(size=(150, 3)), axis=1)]
    est = ClassificationBounds(C=0.3, cutoff=0.2).fit(X, y)
    without = est.what_if({2: "drop"})
    assert without.class_interval_[:, 2].max() == 0
    assert without.interval_[3, 0] > 0.2 > est.interval_[3, 0]
    for_c = est.what_if({2: "drop"}, label="c")
    np.testing.assert_array_equal(for_c.class_interval_[0], est.class_interval_[0])
    assert for_c.class_interval_[2, 2, 1] == 0
    assert est.what_if({3: "keep"}).class_interval_[2, 3, 0] >= 0.2 - 1e-9
    with pytest.raises(InputError, match="Unknown label 'd'"):
        est.what_if({2: "drop"}, label="d")


@pytest.mark.filterwarnings("ignore:Some bounds are certified only")  # few pairs, hence few cuts
@pytest.mark.parametrize("seed", range(4))
def test_cutting_planes_agree_with_listed_pairs(seed, monkeypatch):
    data = make_ranking(
        80, positive=0.4, flip=0.1, n_strong=2, n_weak=2, n_irrelevant=2, random_state=seed
    )
    listed = RankingBounds(C=10.0, cutoff=0.1).fit(data.X, data.y)
    monkeypatch.setattr(pairs_module, "MAX_LISTED_PAIRS", 0)
    by_cuts = RankingBounds(C=10.0, cutoff=0.1).fit(data.X, data.y)
    assert isinstance(by_cuts._result.subproblems[0].models.rows, CuttingPlaneRows)
    for constraints in ({2: "drop"}, {0: (0.9 * listed.interval_[0, 1], None), 3: (0, 0.2)}):
        found, expected = by_cuts.what_if(constraints), listed.what_if(constraints)
        np.testing.assert_allclose(found.interval_, expected.interval_, atol=1e-3)
        assert found.gap_.max() <= 1e-4
        dropped = [feature for feature, value in constraints.items() if value == "drop"]
        assert not found._result.subproblems[0].solved.weights.coef[:, dropped].toarray().any()
        assert not found.baseline_.coef_[dropped].any()
    with pytest.raises(InfeasibleConstraintsError):
        by_cuts.what_if({2: "drop", 3: "drop"})


@pytest.mark.parametrize(
    ("constraints", "options", "message"),
    [
        ({0: "off"}, {}, "must be 'drop', 'keep', a number or a pair"),
        ({0: (1, 2, 3)}, {}, "must be 'drop', 'keep', a number or a pair"),
        ({0: float("nan")}, {}, "must be 'drop', 'keep', a number or a pair"),
        ({0: (2, 1)}, {}, "exceeds the upper limit"),
        ({0: -1.0}, {}, "cannot be negative"),
        ({"x0": "drop", 0: "keep"}, {}, "constrained twice"),
        ({"nobody": "drop"}, {}, "No feature is called 'nobody'"),
        ([0], {}, "must be a dict that maps features"),
        ({0: "drop"}, {"label": 1}, "more than two classes"),
    ],
)
def test_invalid_constraints_raise(constraints, options, message):
    with pytest.raises(InputError, match=message):
        classification(seed=0).what_if(constraints, **options)


def test_constraint_on_a_constant_column_raises():
    data = make_linear_classification(60, n_weak=2, random_state=0)
    X = np.column_stack([data.X, np.ones(60)])
    with pytest.warns(match="constant"):
        est = ClassificationBounds(C=0.3, cutoff=0.1).fit(X, data.y)
    with pytest.raises(InputError, match="is constant"):
        est.what_if({X.shape[1] - 1: "keep"})
