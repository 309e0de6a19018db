"""Tests that each kind of constraint is assigned the matching solver."""

import numpy as np
import pytest

from allrelevant.bounds.programs.comparable_pairs import class_pairs
from allrelevant.bounds.programs.equivalent_models import separate_budgets
from allrelevant.bounds.programs.pairwise import PairwiseLoss, initial_rows
from allrelevant.bounds.solver.cutting import CuttingPlaneBaseline, CuttingPlaneSolver
from allrelevant.bounds.solver.families import solvers_for
from allrelevant.bounds.solver.interface import NotAVertexError
from allrelevant.bounds.solver.l1 import L1Baseline
from allrelevant.bounds.solver.simplex import SimplexSolver
from tests.bounds.generated import generated_samples


def cut_rows():
    rng = np.random.RandomState(0)
    table = np.vstack([rng.randn(12, 3) + 0.5, rng.randn(15, 3)])
    return initial_rows(PairwiseLoss(table, class_pairs(np.arange(27) < 12, None), np.ones(27)))


COMPLETE = generated_samples(3).rows


@pytest.mark.parametrize(
    ("rows", "baseline", "extremes"),
    [(COMPLETE, L1Baseline, SimplexSolver), (cut_rows(), CuttingPlaneBaseline, CuttingPlaneSolver)],
    ids=["complete", "cuts"],
)
def test_solvers_match_the_kind_of_constraints(rows, baseline, extremes):
    solver = solvers_for(rows).baseline()
    assert isinstance(solver, baseline)
    start = solver.solve(1.0)
    loss = float(rows.loss(start.coef[None], start.offset[None])[0])
    models = separate_budgets(start.rows, 1.1 * np.abs(start.coef).sum(), 1.1 * loss, start)
    family = solvers_for(models.rows)
    assert isinstance(family.extremes(models), extremes)
    assert family.reference_can_check(models) == (rows is COMPLETE)
    with pytest.raises(NotAVertexError):
        family.extremes(separate_budgets(start.rows, 1.0, 1.0))


def test_missing_rows_are_the_constraints_that_a_model_violates():
    coef, offset = np.zeros(COMPLETE.n_weights), np.zeros(1)
    rows, missing = COMPLETE.missing_rows(coef, offset)
    assert rows is COMPLETE
    np.testing.assert_array_equal(missing, np.arange(COMPLETE.n_rows))  # all targets are 1
    cuts = cut_rows()
    rows, missing = cuts.missing_rows(np.ones(3), np.zeros(1))
    assert missing.tolist() == [cuts.n_rows]
    assert rows.n_rows == cuts.n_rows + 1
    (slack,) = rows.take(missing).slack(np.ones((1, 3)), np.zeros((1, 1)))[0]
    assert slack == pytest.approx(cuts.true_loss.values(np.ones((1, 3)))[0])
