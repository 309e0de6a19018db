"""What a solver is asked, what it answers, and nothing about how it finds out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...arrays import Matrix


@dataclass(frozen=True)
class Extreme:
    """One end of one weight's range: ``sign * w_feature`` is as large as it can be."""

    feature: int
    sign: int

    def __str__(self) -> str:
        return f"the {'largest' if self.sign > 0 else 'smallest'} weight of feature {self.feature}"


@dataclass(frozen=True)
class Extrema:
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


class ExtremeSolver(Protocol):
    """Finds extremes over the one set it was made for. What it answers is proven, not trusted."""

    def __call__(self, extremes: Sequence[Extreme]) -> Extrema: ...
