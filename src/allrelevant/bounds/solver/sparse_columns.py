"""Solver for largest and smallest weights if the table is sparse and has very many features.

The LP over a working set of features is solved by HiGHS, whose sparse factorizations are faster
than a dense dictionary if columns have few nonzero values. One product with the table gives the
reduced costs of all other features. Those with the most negative ones are added to the working set,
and the LP continues from its basis, until the certified gap is small enough. Features that were
added stay for the following LPs, which continue from the last basis as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import EquivalentModels
from ..programs.hinge import HingeRows
from .highs import HighsModel, Solution
from .interface import (
    EXACT_TOL,
    Extreme,
    ExtremeSolutions,
    NotAVertexError,
    Objectives,
    SolverStats,
)
from .proofs import Certificates, largest_norm

# A table is sparse if at most this fraction of its values is not zero, and its LPs are solved here
# if there are at least this many constraints and features.
MAX_DENSITY = 0.002
MIN_ROWS = 400
MIN_FEATURES = 20_000

# The working set starts with the features whose ``multipliers @ table`` at the baseline is at least
# NEARLY_USED in absolute value, but at most with this many.
NEARLY_USED = 0.9
MAX_FIRST_FEATURES = 10_000

# Maximum number of features that are added per solution. If the working set has more than
# MAX_FEATURES, it is reset for the next LP.
FEATURES_PER_SOLUTION = 1000
MAX_FEATURES = 8_000

# Features are added if their reduced cost is below minus this, relative to the norm price.
REDUCED_COST_TOL = 1e-9


def has_sparse_columns(rows: HingeRows) -> bool:
    """Return whether the solver for sparse tables with very many features is the fastest."""
    if not sp.issparse(rows.table) or rows.n_rows < MIN_ROWS or rows.n_weights < MIN_FEATURES:
        return False
    return bool(rows.table.nnz <= MAX_DENSITY * rows.n_rows * rows.n_weights)


class SparseColumnSolver:
    """Solver for largest and smallest weights by HiGHS, over a working set of features.

    ``tol`` is the gap that solutions may have, relative to the largest norm in the set.
    """

    is_reference = False

    def __init__(
        self, models: EquivalentModels, tol: float = EXACT_TOL, deadline: Deadline = NO_DEADLINE
    ) -> None:
        if models.start is None:
            raise NotAVertexError("No feasible starting point is available. Use HighsSolver.")
        self.models, self._deadline = models, deadline
        self._allowed_gap = tol * largest_norm(models)
        combination = np.abs(models.rows.row_combination(models.start.multipliers))
        n_first = min(int((combination >= NEARLY_USED).sum()), MAX_FIRST_FEATURES)
        self._first = np.sort(np.argsort(-combination, kind="stable")[:n_first])
        self.effort = SolverStats()
        self._reset()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        n, rows = len(extremes), self.models.rows
        solutions = ExtremeSolutions(
            np.zeros((n, rows.n_weights)), np.zeros((n, rows.n_offsets)), np.zeros((n, rows.n_rows))
        )
        for e, extreme in enumerate(extremes):
            if len(self._features) > MAX_FEATURES:
                self._reset()
            solution = self._solve(extreme)
            positive, negative = solution.point[self._columns]
            solutions.coef[e, self._features] = positive - negative
            solutions.offset[e] = solution.point[self._offset]
            solutions.multipliers[e] = solution.row_dual[: rows.n_rows]
        self.effort.programs += n
        return solutions

    def _reset(self) -> None:
        """Start a new LP with the first features."""
        working = self.models.rows.take_columns(self._first)
        program = replace(self.models, rows=working, start=None).program
        self._features = self._first
        self._columns = program.weight_columns(np.arange(len(self._first)))
        self._offset = program.blocks["offset"]
        self._n_columns = program.n_columns
        self._highs = HighsModel(program, self._deadline)

    def _solve(self, extreme: Extreme) -> Solution:
        weights = np.array(extreme.weights)
        self._add(weights[~np.isin(weights, self._features)])
        order = np.argsort(self._features)
        places = order[np.searchsorted(self._features, weights, sorter=order)]
        columns = self._columns[:, places].ravel().astype(np.int32)
        gain = extreme.sign * np.array(extreme.coefficients)
        self._highs.change_cost(columns, np.r_[-gain, gain])  # HiGHS minimizes
        solution = self._highs.solve(str(extreme))
        while len(entering := self._entering(extreme, solution)):
            self._add(entering)
            solution = self._highs.solve(str(extreme))
        self._highs.change_cost(columns, np.zeros(columns.size))
        return solution

    def _entering(self, extreme: Extreme, solution: Solution) -> NDArray[np.intp]:
        """Return the features with the most negative reduced costs, if the gap is too large."""
        rows = self.models.rows
        multipliers = np.maximum(solution.row_dual[: rows.n_rows], 0.0)
        bound = Certificates(self.models, multipliers[None]).maxima(
            Objectives.from_extremes([extreme])
        )
        none = np.empty(0, dtype=np.intp)
        if float(bound[0]) + solution.value <= self._allowed_gap:
            return none
        size = np.abs(rows.row_combination(multipliers))
        size[list(extreme.weights)] = 0.0
        limit = size[self._features].max(initial=0.0) * (1 + REDUCED_COST_TOL) + REDUCED_COST_TOL
        size[self._features] = 0.0
        return _largest_above(size, limit)

    def _add(self, features: NDArray[np.intp]) -> None:
        """Add features to the LP; the basis is kept."""
        if len(features) == 0:
            return
        table = sp.csc_array(self.models.rows.feature_rows(features).T)
        norm = [np.full(len(features), b.norm_coefficient) for b in self.models.budgets]
        signed = [sp.vstack([sign * table, sp.csc_array(np.array(norm))]) for sign in (1.0, -1.0)]
        self._highs.add_columns(sp.hstack(signed, format="csc"), np.zeros(2 * len(features)))
        added = self._n_columns + np.arange(2 * len(features)).reshape(2, -1)
        self._columns = np.hstack([self._columns, added])
        self._features = np.concatenate([self._features, features])
        self._n_columns += added.size


def _largest_above(values: Vector, limit: float) -> NDArray[np.intp]:
    """Return the indices of the largest values above a limit, at most FEATURES_PER_SOLUTION."""
    above = np.flatnonzero(values > limit)
    if len(above) > FEATURES_PER_SOLUTION:
        order = np.argpartition(-values[above], FEATURES_PER_SOLUTION)
        above = above[order[:FEATURES_PER_SOLUTION]]
    return above
