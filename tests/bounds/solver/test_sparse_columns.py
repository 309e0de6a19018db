"""Tests that the solver for sparse tables and the reference agree, exactly or within a gap."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from allrelevant.bounds.solver import simplex, sparse_columns
from allrelevant.bounds.solver.families import solvers_for
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.interface import Extreme, NotAVertexError
from allrelevant.bounds.solver.proofs import check_solutions, largest_norm
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.bounds.solver.simplex import SimplexSolver
from allrelevant.bounds.solver.sparse_columns import SparseColumnSolver
from tests.bounds.solver.wide_tables import wide_models

FEATURES = np.arange(0, 300, 12)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    """Let the working sets of small tables grow in several rounds."""
    monkeypatch.setattr(sparse_columns, "FEATURES_PER_SOLUTION", 5)
    monkeypatch.setattr(sparse_columns, "MAX_FEATURES", 90)
    monkeypatch.setattr(simplex, "ALL_FEATURES_UP_TO", 20)
    monkeypatch.setattr(simplex, "MAX_CANDIDATES", 10)
    monkeypatch.setattr(simplex, "FEATURES_PER_SOLUTION", 5)


@pytest.mark.parametrize("formulation", ["separate", "joint"])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_reference(seed, formulation):
    models = wide_models(seed, formulation)
    reference = weight_ranges(models, FEATURES, solver=HighsSolver)
    found = weight_ranges(models, FEATURES, solver=SparseColumnSolver)
    np.testing.assert_allclose(found.attained, reference.attained, atol=1e-6)
    assert found.effort.programs == 2 * len(FEATURES)
    assert found.effort.fallbacks == 0


@pytest.mark.parametrize("solver", [SimplexSolver, SparseColumnSolver])
@pytest.mark.parametrize("seed", [1, 2])
def test_solutions_that_stop_early_are_within_the_tolerance(seed, solver):
    models, tol = wide_models(seed), 0.01
    exact = weight_ranges(models, FEATURES, solver=HighsSolver)
    found = weight_ranges(models, FEATURES, solver=partial(solver, tol=tol), tol=tol)
    allowed = tol * largest_norm(models)
    error = np.abs(found.attained - exact.attained)
    assert found.effort.fallbacks == 0
    assert 1e-6 < error.max() <= allowed  # some solutions stop early
    assert np.abs(found.proven - found.attained).max() <= allowed * (1 + 1e-6)
    assert (
        found.gap.max(axis=1) >= np.abs(found.interval - exact.interval).max(axis=1) - 1e-8
    ).all()


def test_maximizes_functions_of_several_weights():
    models = wide_models(0)
    extremes = [Extreme((3, 40, 200), (1.0, -0.5, 2.0), 1), Extreme((299, 0), (1.0, 1.0), -1)]
    found = check_solutions(models, extremes, SparseColumnSolver(models)(extremes))
    reference = check_solutions(models, extremes, HighsSolver(models)(extremes))
    np.testing.assert_allclose(found.attained, reference.attained, atol=1e-6)
    assert found.gap.max() <= 1e-6


def test_is_used_for_sparse_tables_with_many_features(monkeypatch):
    models = wide_models(0)
    assert isinstance(solvers_for(models.rows).extremes(models), SimplexSolver)
    monkeypatch.setattr(sparse_columns, "MIN_ROWS", 60)
    monkeypatch.setattr(sparse_columns, "MIN_FEATURES", 300)
    monkeypatch.setattr(sparse_columns, "MAX_DENSITY", 0.1)
    assert isinstance(solvers_for(models.rows).extremes(models), SparseColumnSolver)
    dense = wide_models(0, dense=True)
    assert isinstance(solvers_for(dense.rows).extremes(dense), SimplexSolver)
    with pytest.raises(NotAVertexError):
        SparseColumnSolver(replace(models, start=None))
