"""Fast solver for largest and smallest weights: simplex method on a small dense dictionary.

The baseline is a vertex of the l1-regularized problem. :class:`SimplexSolver` solves every LP from
the dictionary of this vertex, over a working set of constraints and features. Row generation adds
constraints that a solution violates, and column generation adds features with negative reduced
cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..._typing import Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import EquivalentModels
from ..programs.hinge import DISTANT_SLACK
from .dictionary import Dictionary, Vertex
from .interface import (
    EXACT_TOL,
    Extreme,
    ExtremeSolutions,
    NotAVertexError,
    Objectives,
    SolverStats,
    concatenate,
)
from .proofs import Certificates, largest_norm

# Largest violation of hard constraints by the start, relative to its norm.
VIOLATION_TOL = 1e-9

# Extremes in the first batch. Each further batch has twice as many. The first extremes add most of
# the constraints and features that are missing in the working set, so few are solved twice.
FIRST_BATCH = 8

# Largest slack of a solution in a constraint outside the working set.
SLACK_TOL = 1e-10

# Features are added if their reduced cost is below minus this, relative to the norm price.
REDUCED_COST_TOL = 1e-9

# Up to this number of features, all are in the working set. Above it, the working set starts with
# the features whose ``multipliers @ table`` at the baseline is at least NEARLY_USED in absolute
# value; it is 1, the norm price, for the features in use. At most MAX_NEARLY_USED features that are
# not in use are included.
ALL_FEATURES_UP_TO = 400
NEARLY_USED = 0.95
IN_USE = 1.0 - 1e-6
MAX_NEARLY_USED = 100

# Number of further features with the largest ``multipliers @ table`` at the baseline in the
# working set. These candidates enter the dictionary of an LP when they are needed. Features that
# are missing in a solution become candidates. Above twice their number, they are reset.
MAX_CANDIDATES = 1000

# Maximum number of features added per solution.
FEATURES_PER_SOLUTION = 100


class SimplexSolver:
    """Simplex solver for largest and smallest weights, with a working set.

    The working set consists of constraints and features. Every LP is solved from the starting point
    of the set. :class:`NotAVertexError` is raised if the start is not a vertex. ``active_rows`` are
    constraints to include in the working set, in addition to those that are nearly active at the
    start. ``tol`` is the gap that solutions may have because of missing features, relative to the
    largest norm in the set.
    """

    is_reference = False

    def __init__(
        self,
        models: EquivalentModels,
        active_rows: NDArray[np.intp] | Sequence[int] = (),
        tol: float = EXACT_TOL,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if models.start is None:
            raise NotAVertexError("No feasible starting point is available. Use HighsSolver.")
        self.models, self._start, self._deadline = models, models.start, deadline
        self._allowed_gap = tol * largest_norm(models) if tol > EXACT_TOL else 0.0
        rows, coef, offset = models.rows, models.start.coef, models.start.offset
        combination = np.abs(rows.row_combination(self._start.multipliers))
        # Prices of norm and loss at which the start is optimal.
        self._prices = np.array([combination.max(), (self._start.multipliers / rows.weight).max()])
        violation = rows.violation(coef[None], offset[None])[0]
        if violation > VIOLATION_TOL * (1.0 + np.abs(coef).sum()):
            raise NotAVertexError("The starting point violates hard constraints. Use HighsSolver.")
        is_near = rows.slack(coef[None], offset[None])[0] > -DISTANT_SLACK
        is_near[np.asarray(active_rows, dtype=np.intp)] = True
        self._rows = np.flatnonzero(is_near)
        self._features = nearly_used_features(combination)
        self._candidates = self._first_candidates = likely_features(
            combination, len(self._features)
        )
        self._dictionary = self._new_dictionary()
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        self._reset_features()
        parts, start, size = [], 0, FIRST_BATCH
        while start < len(extremes):
            parts.append(self._solve_batch(extremes[start : start + size]))
            start, size = start + size, 2 * size
        return concatenate(parts)

    def _solve_batch(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        """Solve a batch of LPs and extend the working set until no extension is needed."""
        self._add_features_of(extremes)
        solutions = self._solve(extremes)
        again = self._extend_working_set(extremes, solutions)
        while len(again):
            self._deadline.check()
            self._dictionary = self._new_dictionary()
            repeated = [extremes[int(e)] for e in again]
            solutions = solutions.with_replaced(again, self._solve(repeated))
            again = again[self._extend_working_set(repeated, solutions.take(again))]
        return solutions

    def _add_features_of(self, extremes: Sequence[Extreme]) -> None:
        """Add the weights of functions of several weights to the working set.

        A single weight may be absent, because the dictionary has a placeholder for one.
        """
        weights = [extreme.weights for extreme in extremes if len(extreme.weights) > 1]
        missing = np.setdiff1d(np.array([w for each in weights for w in each]), self._features)
        if len(missing):
            self._features = np.union1d(self._features, missing.astype(np.intp))
            self._dictionary = self._new_dictionary()

    def _reset_features(self) -> None:
        """Reset the candidates to the initial ones if there are too many."""
        if len(self._candidates) > 2 * max(MAX_CANDIDATES, len(self._first_candidates)):
            self._candidates = self._first_candidates
            self._dictionary = self._new_dictionary()

    def _new_dictionary(self) -> Dictionary:
        """Return the dictionary of the starting vertex for the current working set."""
        rows = self.models.rows.take(self._rows)
        vertex = Vertex.of_model(rows, self._start.coef, self._start.offset)
        return Dictionary(
            vertex,
            self._features,
            self.models.budgets,
            self._prices,
            self._candidates,
            self._deadline,
        )

    def _solve(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        dictionary, size = self._dictionary, self._dictionary.extremes_per_call
        parts = [dictionary.solve(extremes[i : i + size]) for i in range(0, len(extremes), size)]
        self.effort.programs += len(extremes)
        self.effort.pivots += sum(pivots for _, pivots in parts)
        solutions = concatenate([part for part, _ in parts])
        multipliers = np.zeros((len(extremes), self.models.rows.n_rows))
        multipliers[:, self._rows] = solutions.multipliers
        return ExtremeSolutions(solutions.coef, solutions.offset, multipliers)

    def _extend_working_set(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> NDArray[np.intp]:
        """Add violated constraints, and features with negative reduced cost, to the working set.

        Return the indices of the solutions concerned, which must be solved again.
        """
        # HiGHS solves these extremes later.
        unsolved = np.flatnonzero(~np.isfinite(solutions.coef).all(axis=1))
        is_violated = self.models.rows.slack(solutions.coef, solutions.offset) > SLACK_TOL
        is_violated[:, self._rows] = False
        is_violated[unsolved] = False
        missing = {
            e: features
            for e, features in self._entering_features(extremes, solutions)
            if e not in unsolved
        }
        if self._allowed_gap > 0:
            for e in self._accurate(extremes, solutions, sorted(missing)):
                del missing[e]
        self._rows = np.union1d(self._rows, np.flatnonzero(is_violated.any(axis=0)))
        self._candidates = reduce(np.union1d, missing.values(), self._candidates)
        return np.union1d(np.flatnonzero(is_violated.any(axis=1)), sorted(missing)).astype(np.intp)

    def _accurate(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions, which: Sequence[int]
    ) -> list[int]:
        """Return those of the given solutions whose certified gap is at most the allowed one."""
        if not which:
            return []
        objectives = Objectives.from_extremes([extremes[e] for e in which])
        certificates = Certificates(self.models, solutions.multipliers[which])
        attained = objectives.signs * objectives.values(solutions.coef[which])
        gap = certificates.maxima(objectives) - attained
        return [e for e, is_small in zip(which, gap <= self._allowed_gap, strict=True) if is_small]

    def _entering_features(
        self, extremes: Sequence[Extreme], solutions: ExtremeSolutions
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield pairs of a solution index and the features with negative reduced cost for it."""
        combination = self.models.rows.row_combination(solutions.multipliers)
        np.abs(combination, out=combination)
        objectives = Objectives.from_extremes(extremes)
        combination[objectives.rows, objectives.weights] = 0.0
        used = np.flatnonzero(self._start.coef)
        working = reduce(np.union1d, [self._features, self._candidates, used])
        norm_price = combination[:, working].max(axis=1, initial=0.0)
        combination[:, working] = 0.0
        limit = norm_price * (1 + REDUCED_COST_TOL) + REDUCED_COST_TOL
        for e in np.flatnonzero(combination.max(axis=1, initial=0.0) > limit):
            features = np.flatnonzero(combination[e] > limit[e])
            if len(features) > FEATURES_PER_SOLUTION:
                order = np.argpartition(-combination[e, features], FEATURES_PER_SOLUTION)
                features = features[order[:FEATURES_PER_SOLUTION]]
            yield int(e), features


def nearly_used_features(combination: Vector) -> NDArray[np.intp]:
    """Return the features with small reduced cost at the baseline; if there are few, all features.

    Equivalent models are likely to use these. ``combination``, of shape (d,), is the absolute value
    of ``multipliers @ table`` at the baseline, which is 1 for features in use.
    """
    if len(combination) <= ALL_FEATURES_UP_TO:
        return np.arange(len(combination))
    n_used = int((combination >= IN_USE).sum())
    n_nearly = min(int((combination >= NEARLY_USED).sum()), n_used + MAX_NEARLY_USED)
    return _largest(combination, n_nearly)


def likely_features(combination: Vector, n_features: int) -> NDArray[np.intp]:
    """Return the candidates, given the number of features that are in the dictionary anyway."""
    return _largest(combination, min(len(combination), n_features + MAX_CANDIDATES))


def _largest(values: Vector, n: int) -> NDArray[np.intp]:
    """Return the indices of the n largest values in ascending order; ties favor the first."""
    return np.sort(np.argsort(-values, kind="stable")[:n])
