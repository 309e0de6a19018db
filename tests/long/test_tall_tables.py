"""Bounds of tall random tables by the interior-point method, compared with HiGHS."""

from functools import partial

import numpy as np
import pytest

from allrelevant import ClassificationBounds
from allrelevant.bounds.solver import families
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.interior import InteriorSolver
from allrelevant.bounds.solver.proofs import largest_norm
from allrelevant.bounds.solver.ranges import weight_ranges
from tests.bounds.tall_tables import KINDS, tall_models, tall_samples

# Tables of each kind: 200 tables in all.
N_SEEDS = 25

# Largest fraction of LPs that are left to the simplex method or to HiGHS.
MAX_FALLBACKS = 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_agree_with_highs(kind):
    n_fallbacks = n_programs = 0
    for seed in range(N_SEEDS):
        models = tall_models(kind, seed, n_rows=(300, 1500), n_features=(3, 20))
        norm = largest_norm(models)
        if norm == 0:  # the baseline uses no feature
            continue
        found = weight_ranges(models, solver=partial(InteriorSolver, tol=1e-9))
        expected = weight_ranges(models, solver=HighsSolver)
        np.testing.assert_allclose(found.attained, expected.attained, rtol=0, atol=1e-6 * norm)
        assert (np.abs(found.proven - found.attained) <= 1e-7 * max(norm, 1.0)).all()
        n_fallbacks += found.effort.fallbacks
        n_programs += found.effort.programs
    print(f"{kind}: {n_fallbacks} fallbacks in {n_programs} LPs")
    assert n_fallbacks <= MAX_FALLBACKS * n_programs


@pytest.mark.filterwarnings("ignore::allrelevant.exceptions.RelevanceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_classes_do_not_depend_on_the_tolerance(kind, monkeypatch):
    monkeypatch.setattr(families, "MIN_ROWS_FOR_INTERIOR", 100)
    for seed in range(3):
        data = tall_samples(kind, seed)
        loose, tight = (
            ClassificationBounds(tol=tol, random_state=0).fit(data.X, data.y, data.weight)
            for tol in (1e-2, 1e-9)
        )
        assert loose.relevance_.tolist() == tight.relevance_.tolist()
