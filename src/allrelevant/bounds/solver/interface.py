"""What solvers are asked and what they answer; nothing about how they find out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix
from ..programs.equivalent_models import EquivalentModels, StartingVertex


class NotAVertexError(Exception):
    """A solver that starts at a vertex was given none."""


class BaselineSolver(Protocol):
    """Solves ``min |w|_1 + C * loss`` for one C after the other."""

    def solve(self, C: float) -> StartingVertex: ...


@dataclass(frozen=True)
class Extreme:
    """One end of one weight's range: the model of largest ``sign * w_feature``."""

    feature: int
    sign: int

    def __str__(self) -> str:
        return f"the {'largest' if self.sign > 0 else 'smallest'} weight of feature {self.feature}"


def features_and_signs(
    extremes: Sequence[Extreme],
) -> tuple[NDArray[np.intp], NDArray[np.int_]]:
    """Features and signs of m extremes, each of shape (m,)."""
    return (
        np.array([extreme.feature for extreme in extremes], dtype=np.intp),
        np.array([extreme.sign for extreme in extremes], dtype=np.int_),
    )


@dataclass(frozen=True)
class ExtremeSolutions:
    """Models at m extremes, and multipliers of the hinge rows that prove them.

    ``coef`` has shape (m, d), ``offset`` (m, n_offsets), ``multipliers`` (m, n_rows).
    """

    coef: Matrix
    offset: Matrix
    multipliers: Matrix

    def take(self, which: NDArray[np.intp]) -> ExtremeSolutions:
        """Some of the solutions."""
        return ExtremeSolutions(self.coef[which], self.offset[which], self.multipliers[which])

    def with_replaced(self, which: NDArray[np.intp], others: ExtremeSolutions) -> ExtremeSolutions:
        """These solutions with some of them replaced, in place."""
        self.coef[which] = others.coef
        self.offset[which] = others.offset
        self.multipliers[which] = others.multipliers
        return self


def concatenate(parts: Sequence[ExtremeSolutions]) -> ExtremeSolutions:
    """Solutions of several groups of extremes, as one."""
    if len(parts) == 1:
        return parts[0]
    return ExtremeSolutions(
        coef=np.concatenate([part.coef for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        multipliers=np.concatenate([part.multipliers for part in parts]),
    )


@dataclass
class SolverStats:
    """Counters: programs solved, pivots, programs that only HiGHS could solve (``fallbacks``) and
    programs that did not have to be solved (``spared``).
    """

    programs: int = 0
    pivots: int = 0
    fallbacks: int = 0
    spared: int = 0


def total_effort(efforts: Sequence[SolverStats]) -> SolverStats:
    """The sum of several counters."""
    return SolverStats(
        programs=sum(effort.programs for effort in efforts),
        pivots=sum(effort.pivots for effort in efforts),
        fallbacks=sum(effort.fallbacks for effort in efforts),
        spared=sum(effort.spared for effort in efforts),
    )


class ExtremeSolver(Protocol):
    """Solves extremes over the set of models that it was made for.

    ``models`` is that set as the solver knows it by now: multipliers belong to its rows. Solutions
    are checked; those of the reference solver are final.
    """

    @property
    def is_reference(self) -> bool: ...

    @property
    def effort(self) -> SolverStats: ...

    @property
    def models(self) -> EquivalentModels: ...

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions: ...
