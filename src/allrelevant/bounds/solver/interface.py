"""Interfaces of the solvers, and the types of their arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix, Vector
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
    """Largest (sign 1) or smallest (sign -1) value of a linear function of the weights.

    The function is the sum of ``coefficients * w[weights]``; the weights are distinct. Usually, it
    is a single weight.
    """

    weights: tuple[int, ...]
    coefficients: tuple[float, ...]
    sign: int

    @classmethod
    def of_weight(cls, weight: int, sign: int) -> Extreme:
        """Return the largest or smallest value of a single weight."""
        return cls((int(weight),), (1.0,), int(sign))

    @classmethod
    def of_direction(cls, direction: Vector, weights: NDArray[np.intp]) -> Extreme:
        """Return the largest value of ``direction . w[weights]``."""
        used = np.flatnonzero(direction)
        return cls(tuple(weights[used].tolist()), tuple(direction[used].tolist()), 1)

    def __str__(self) -> str:
        size = "largest" if self.sign > 0 else "smallest"
        listed = " and ".join(str(weight) for weight in self.weights)
        return f"the {size} weight of column {listed}"


@dataclass(frozen=True)
class Objectives:
    """Linear functions of m extremes as arrays.

    Function e has the entries ``starts[e]`` to ``starts[e + 1] - 1`` of ``weights`` and
    ``coefficients``; ``rows`` holds the number of the function of each entry. ``signs``, of shape
    (m,), are those of the extremes.
    """

    starts: NDArray[np.int64]
    weights: NDArray[np.intp]
    coefficients: Vector
    signs: Vector

    @classmethod
    def from_extremes(cls, extremes: Sequence[Extreme]) -> Objectives:
        lengths = [len(extreme.weights) for extreme in extremes]
        return cls(
            starts=np.cumsum([0, *lengths], dtype=np.int64),
            weights=np.array([w for extreme in extremes for w in extreme.weights], dtype=np.intp),
            coefficients=np.array(
                [c for extreme in extremes for c in extreme.coefficients], dtype=float
            ),
            signs=np.array([float(extreme.sign) for extreme in extremes]),
        )

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.signs)), np.diff(self.starts))

    @property
    def gains(self) -> Vector:
        """Coefficients of the functions to maximize, that is, multiplied by their signs."""
        return self.signs[self.rows] * self.coefficients

    def values(self, coef: Matrix) -> Vector:
        """Return the value of each function for the model in the same row of ``coef``."""
        terms = self.coefficients * coef[self.rows, self.weights]
        return np.asarray(np.bincount(self.rows, weights=terms, minlength=len(self.signs)), float)


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

    def since(self, before: SolverStats) -> SolverStats:
        """Return the difference to earlier counts of the same solver."""
        return SolverStats(
            self.programs - before.programs,
            self.pivots - before.pivots,
            self.fallbacks - before.fallbacks,
            self.spared - before.spared,
        )


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
