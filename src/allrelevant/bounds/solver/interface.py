"""What a solver is asked, what it answers, and nothing about how it finds out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._typing import Matrix
from ..programs.equivalent_models import EquivalentModels


@dataclass(frozen=True)
class Extreme:
    """One end of one weight's range: ``sign * w_feature`` is as large as it can be."""

    feature: int
    sign: int

    def __str__(self) -> str:
        return f"the {'largest' if self.sign > 0 else 'smallest'} weight of feature {self.feature}"


@dataclass(frozen=True)
class ExtremeSolutions:
    """Models at some extremes, and the multipliers of the rows that show why.

    Attributes
    ----------
    coef : ndarray of shape (m, d)
    offset : ndarray of shape (m, n_offsets)
    multipliers : ndarray of shape (m, n_rows)
        Of the hinge rows; see :mod:`allrelevant.bounds.solver.proofs`.
    """

    coef: Matrix
    offset: Matrix
    multipliers: Matrix

    def taken(self, which: NDArray[np.intp]) -> ExtremeSolutions:
        """Some of the answers."""
        return ExtremeSolutions(self.coef[which], self.offset[which], self.multipliers[which])

    def replaced(self, which: NDArray[np.intp], others: ExtremeSolutions) -> ExtremeSolutions:
        """These answers with some of them replaced, in place."""
        parts = [
            (self.coef, others.coef),
            (self.offset, others.offset),
            (self.multipliers, others.multipliers),
        ]
        for mine, theirs in parts:
            mine[which] = theirs
        return self


def concatenate(parts: Sequence[ExtremeSolutions]) -> ExtremeSolutions:
    """Answers to several groups of questions, as one."""
    if len(parts) == 1:
        return parts[0]
    return ExtremeSolutions(
        coef=np.concatenate([part.coef for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        multipliers=np.concatenate([part.multipliers for part in parts]),
    )


@dataclass
class SolverStats:
    """What it took.

    Attributes
    ----------
    programs : int
        Programs solved.
    pivots : int
    fallbacks : int
        Programs that only HiGHS could settle.
    spared : int
        Programs that did not have to be solved, for their answer was known to change nothing.
    """

    programs: int = 0
    pivots: int = 0
    fallbacks: int = 0
    spared: int = 0


def total_effort(efforts: Sequence[SolverStats]) -> SolverStats:
    """The effort of several runs together."""
    return SolverStats(
        programs=sum(effort.programs for effort in efforts),
        pivots=sum(effort.pivots for effort in efforts),
        fallbacks=sum(effort.fallbacks for effort in efforts),
        spared=sum(effort.spared for effort in efforts),
    )


class ExtremeSolver(Protocol):
    """Finds extremes over the one set it was made for. What it answers is proven, not trusted.

    ``models`` is that set as the solver knows it by now: multipliers belong to its rows.
    """

    @property
    def effort(self) -> SolverStats: ...

    @property
    def models(self) -> EquivalentModels: ...

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions: ...
