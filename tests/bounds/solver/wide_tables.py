"""Small wide tables, with sets of equivalent models, for the tests of solvers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.programs.equivalent_models import EquivalentModels


def wide_models(
    seed: int,
    formulation: str = "separate",
    *,
    dense: bool = False,
    shape: tuple[int, int] = (60, 300),
) -> EquivalentModels:
    """Return the equivalent models of a table with few nonzero values and 5 relevant features."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(shape, density=0.05, rng=rng, data_sampler=rng.standard_normal).toarray()
    X[:, :5] = rng.standard_normal((shape[0], 5)) * (rng.random((shape[0], 5)) < 0.4)
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(shape[0]) > 0, 1.0, -1.0)
    X /= np.maximum(X.std(axis=0), 1e-6)
    table = X if dense else sp.csr_array(X)
    kind = FORMULATIONS[formulation]
    baseline = kind.fit(ClassificationData(table, y, np.ones(shape[0])), (0.05, 0.2, 1.0)[seed % 3])
    assert baseline.model.uses_features
    return kind.equivalent_models(baseline, Tolerance(0.1, 0.05, 1e-6))
