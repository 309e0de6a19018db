"""Tests that exported proofs hold, state the bounds of the estimator, and detect changes."""

import json
from itertools import chain

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from allrelevant import (
    ClassificationBounds,
    InputError,
    RankingBounds,
    RelevanceWarning,
    SurvivalBounds,
)
from allrelevant._version import __version__
from allrelevant.bounds.rational import RationalModels
from allrelevant.datasets import make_linear_classification, make_survival
from allrelevant.proof_checker import verify
from tests.bounds.proof_cases import damaged, forged, make_case, rejects

# Twice the number of tasks.
SEEDS = range(10)

DATA = make_linear_classification(40, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)


def fitted(X=DATA.X, **settings):
    return ClassificationBounds(**{"C": 0.5, "cutoff": 0.1, **settings}).fit(X, DATA.y)


def cells_of(X, y):
    return {
        **{f"x{j}": column.tolist() for j, column in enumerate(X.T)},
        "target": [float(value) for value in y],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_genuine_proof_holds_and_contains_the_interval(seed):
    case = make_case(seed)
    bounds, failures = verify(case.proof, case.cells)
    assert failures == []
    names = list(case.est._result.layout.names)
    for problem, subproblem in zip(
        case.proof["problems"], case.est._result.subproblems, strict=True
    ):
        tolerance = 1e-6 * max(problem["norm"], 1e-9)
        for name, *_ in problem["bounds"]:
            least, low, high, most = map(float, bounds[problem["label"], name])
            lower, upper = subproblem.interval[names.index(name)]
            assert least <= low <= high <= most
            assert max(low - least, most - high) <= tolerance
            assert least - tolerance <= lower <= low + tolerance
            assert high - tolerance <= upper <= most + tolerance


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_a_changed_proof_is_rejected(seed):
    case, rng = make_case(seed), np.random.RandomState(seed)
    forgeries = list(forged(case, rng))
    assert forgeries
    for name, proof in forgeries:
        assert rejects(proof, case.cells), name
    for proof, cells in damaged(case, rng, 5):
        assert rejects(proof, cells)


def test_every_forgery_is_tried():
    cases = map(make_case, SEEDS[:5])
    names = chain.from_iterable(forged(case, np.random.RandomState(0)) for case in cases)
    assert len({name for name, _ in names}) == 14


def test_weights_without_a_solved_program_are_bounded_by_other_certificates():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 200))
    X[:, 0] += 2 * DATA.y
    est = ClassificationBounds(C=0.1, cutoff=0.6, screen=True).fit(X, DATA.y)
    n_solved = int(est.exact_.sum())
    assert 0 < n_solved < 100
    proof = est.export_proof(X, DATA.y)
    bounds, failures = verify(proof, cells_of(X, DATA.y))
    assert failures == []
    assert len(bounds) == 200
    assert len(proof["problems"][0]["models"]) == 1 + 2 * n_solved
    for j in np.flatnonzero(~est.exact_):
        assert 0 <= bounds["", f"x{j}"][3] <= est.interval_[j, 1] + est.gap_[j, 1] + 1e-6


def test_the_proof_covers_only_the_rows_with_positive_weight():
    weight = np.ones(40)
    weight[:5] = 0
    est = ClassificationBounds(C=0.5, cutoff=0.1).fit(DATA.X, DATA.y, weight)
    proof = est.export_proof(DATA.X, DATA.y, weight)
    assert proof["rows"] == list(range(5, 40))
    cells = cells_of(DATA.X, DATA.y)
    cells["x0"][:5] = ["?"] * 5
    assert verify(proof, cells)[1] == []


def test_rows_are_numbered_as_in_the_users_table():
    proof = fitted().export_proof(DATA.X, DATA.y, rows=range(1, 80, 2))
    cells = {
        name: list(chain.from_iterable((None, cell) for cell in column))
        for name, column in cells_of(DATA.X, DATA.y).items()
    }
    assert verify(proof, cells)[1] == []


def test_a_proof_is_json_without_infinite_numbers():
    proof = fitted().export_proof(DATA.X, DATA.y)
    assert json.loads(json.dumps(proof, allow_nan=False)) == proof


def test_the_keys_of_a_proof():
    proof = fitted().export_proof(DATA.X, DATA.y)
    assert list(proof) == [
        *("format", "created_by", "task", "target", "rows", "kinds", "missing", "columns"),
        *("fingerprint", "left_out", "problems", "digest"),
    ]
    assert proof["created_by"] == f"allrelevant {__version__}"
    assert set(proof["problems"][0]) == {
        *("label", "coding", "weights", "norm", "loss", "models", "certificates", "bounds")
    }


def test_the_table_may_differ_by_rounding_only():
    est = fitted()
    assert est.export_proof(DATA.X * (1 + 1e-8), DATA.y)
    with pytest.raises(InputError, match="differs from the one"):
        est.export_proof(DATA.X * (1 + 1e-5), DATA.y)


def test_features_that_are_constant_or_have_several_columns_are_left_out():
    frame = pd.DataFrame(DATA.X, columns=list("abcd")).assign(
        one=1.0, site=["u", "v", "w", "u"] * 10
    )
    with pytest.warns(RelevanceWarning, match="constant"):
        est = fitted(frame)
    proof = est.export_proof(frame, DATA.y)
    assert proof["left_out"] == ["one", "site"]
    assert [bound[0] for bound in proof["problems"][0]["bounds"]] == list("abcd")
    # The models use the indicators of the levels.
    assert [c["name"] for c in proof["columns"]][4:] == ["site [u]", "site [v]", "site [w]"]


def test_another_table_is_refused():
    est = fitted()
    message = (
        r"\AThe table differs from the one that was passed to fit. Pass the same table, target and "
        r"sample weights to export_proof.\Z"
    )
    with pytest.raises(InputError, match=message):
        est.export_proof(DATA.X + 1, DATA.y)
    with pytest.raises(InputError, match="differs from the one"):
        est.export_proof(DATA.X[1:], DATA.y[1:])
    with pytest.raises(InputError, match="differs from the one"):
        est.export_proof(DATA.X, -DATA.y[::-1])
    with pytest.raises(InputError, match="both called 'x1'"):
        est.export_proof(DATA.X, DATA.y, target="x1")


def test_a_set_without_interior_is_refused(monkeypatch):
    """Without slack, rounding decides whether the baseline itself is within the limits."""
    est = fitted(norm_slack=0.0, loss_slack=0.0, loss_tol=0.0)
    monkeypatch.setattr(RationalModels, "rooms", lambda self, coef, offset: (-1e-17, 0.0, 1.0))
    with pytest.raises(InputError, match="no model is strictly within"):
        est.export_proof(DATA.X, DATA.y)


def test_unsupported_models_are_refused():
    X, y = DATA.X, DATA.y
    joint = r"A proof cannot be exported for formulation='joint'. Use formulation='separate'.\Z"
    with pytest.raises(InputError, match=joint):
        fitted(formulation="joint").export_proof(X, y)
    with pytest.raises(InputError, match="sparse table"):
        fitted(sp.csr_array(X)).export_proof(sp.csr_array(X), y)
    with pytest.raises(InputError, match="constrained models"):
        fitted().what_if({3: "drop"}).export_proof(X, y)
    private = ClassificationBounds(C=0.5, cutoff=0.1).fit(X[:, :2], y, privileged=X[:, 2:])
    with pytest.raises(InputError, match="privileged"):
        private.export_proof(X[:, :2], y)


def test_unsupported_tasks_are_refused():
    survival = make_survival(24, n_strong=1, n_weak=0, n_irrelevant=1, random_state=0)
    est = SurvivalBounds(C=10.0, cutoff=0.1).fit(survival.X, survival.y)
    with pytest.raises(InputError, match="for this task"):
        est.export_proof(survival.X, survival.y)
    groups = np.tile([0, 1], 20)
    ranking = RankingBounds(C=10.0, cutoff=0.1).fit(DATA.X, DATA.y, groups=groups)
    with pytest.raises(InputError, match="without groups"):
        ranking.export_proof(DATA.X, DATA.y)
