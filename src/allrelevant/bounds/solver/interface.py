"""Interfaces of the solvers, and the types of their arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix
from ..programs.equivalent_models import EquivalentModels, StartingVertex

# Smallest gap that solvers aim at, relative to the largest norm of a model.
EXACT_TOL = 1e-9


class NotAVertexError(Exception):
    """Raised when a solver requires a starting point that is missing or not a vertex."""


class BaselineSolver(Protocol):
    """Interface of solvers for ``min |w|_1 + C * loss`` at successive values of C."""

    def solve(self, C: float) -> StartingVertex: ...


@dataclass(frozen=True)
class Extreme:
    """Largest (sign 1) or smallest (sign -1) weight of a feature over a set of models."""

    feature: int
    sign: int

    def __str__(self) -> str:
        return f"the {'largest' if self.sign > 0 else 'smallest'} weight of feature {self.feature}"


def features_and_signs(
    extremes: Sequence[Extreme],
) -> tuple[NDArray[np.intp], NDArray[np.int_]]:
    """Return the feature indices and the signs of m extremes as two arrays of shape (m,)."""
    return (
        np.array([extreme.feature for extreme in extremes], dtype=np.intp),
        np.array([extreme.sign for extreme in extremes], dtype=np.int_),
    )


@dataclass(frozen=True)
class ExtremeSolutions:
    """Models that attain m extremes (largest or smallest weights), with their dual variables.

    ``coef`` has shape (m, d) and ``offset`` (m, n_offsets). ``multipliers``, of shape (m, n_rows),
    are the dual variables of the hinge constraints.
    """

    coef: Matrix
    offset: Matrix
    multipliers: Matrix

    def take(self, which: NDArray[np.intp]) -> ExtremeSolutions:
        """Return the solutions at the given indices."""
        return ExtremeSolutions(self.coef[which], self.offset[which], self.multipliers[which])

    def with_replaced(self, which: NDArray[np.intp], others: ExtremeSolutions) -> ExtremeSolutions:
        """Replace the solutions at the given indices in place and return ``self``."""
        self.coef[which] = others.coef
        self.offset[which] = others.offset
        self.multipliers[which] = others.multipliers
        return self


def concatenate(parts: Sequence[ExtremeSolutions]) -> ExtremeSolutions:
    """Return the solutions of several batches, concatenated into a single object."""
    if len(parts) == 1:
        return parts[0]
    return ExtremeSolutions(
        coef=np.concatenate([part.coef for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        multipliers=np.concatenate([part.multipliers for part in parts]),
    )


@dataclass
class SolverStats:
    """Solver statistics: numbers of LPs solved and skipped, simplex pivots and fallbacks.

    The counts are LPs solved by the solver (``programs``), simplex pivots (``pivots``), LPs left to
    another solver as a fallback (``fallbacks``), and LPs skipped because their solution was known
    (``spared``).
    """

    programs: int = 0
    pivots: int = 0
    fallbacks: int = 0
    spared: int = 0


def sum_stats(efforts: Sequence[SolverStats]) -> SolverStats:
    """Return solver statistics with each count summed over the given statistics."""
    return SolverStats(
        programs=sum(effort.programs for effort in efforts),
        pivots=sum(effort.pivots for effort in efforts),
        fallbacks=sum(effort.fallbacks for effort in efforts),
        spared=sum(effort.spared for effort in efforts),
    )


class ExtremeSolver(Protocol):
    """Interface of solvers for the largest and smallest weights over one set of models.

    ``models`` is the current description of the set, to which the solver may have added cuts. The
    dual variables refer to its constraints. Callers verify all solutions; there is no fallback for
    those of the reference solver.
    """

    @property
    def is_reference(self) -> bool: ...

    @property
    def effort(self) -> SolverStats: ...

    @property
    def models(self) -> EquivalentModels: ...

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions: ...
