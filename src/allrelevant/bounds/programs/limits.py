"""Limits on single weights, as rows that must be met: a set of models made smaller by an expert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix
from .equivalent_models import EquivalentModels
from .hinge_rows import HingeRows
from .samples import stacked

# A model this close to a limit keeps it.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Limit:
    """``low <= w_feature <= high``; infinite where there is none."""

    feature: int
    low: float
    high: float

    def keeps(self, coef: Matrix) -> NDArray[np.bool_]:
        """Which of several models keep within it, shape (n_models,)."""
        weight = coef[:, self.feature]
        return (weight >= self.low - _ROUNDING) & (weight <= self.high + _ROUNDING)

    @property
    def ends(self) -> list[tuple[float, float]]:
        """Sign and target of each row that it takes: ``sign * w >= target``."""
        ends = [(1.0, self.low), (-1.0, -self.high)]
        return [(sign, target) for sign, target in ends if np.isfinite(target)]


def limited_models(models: EquivalentModels, limits: Sequence[Limit]) -> EquivalentModels:
    """The models of a set that keep within limits; without a model to start from.

    Bounds of the offsets stay true for a part of the set.
    """
    return replace(models, rows=limited_rows(models.rows, limits), start=None)


def limited_rows(rows: HingeRows, limits: Sequence[Limit]) -> HingeRows:
    """The same rows, and behind them those of the limits, which must be met."""
    ends = [(limit.feature, *end) for limit in limits for end in limit.ends]
    features = np.array([feature for feature, _, _ in ends], dtype=np.intp)
    signs = np.array([sign for _, sign, _ in ends])
    n = len(ends)
    table = sp.csr_array((signs, (np.arange(n), features)), shape=(n, rows.n_weights))
    return replace(
        rows,
        table=stacked([rows.table, table if sp.issparse(rows.table) else table.toarray()]),
        offset_table=np.vstack([rows.offset_table, np.zeros((n, rows.n_offsets))]),
        target=np.r_[rows.target, [target for _, _, target in ends]],
        weight=np.r_[rows.weight, np.full(n, np.inf)],
    )


def within(coef: Matrix, limits: Sequence[Limit]) -> Matrix:
    """Models that keep limits but for rounding, put exactly within them, in place.

    A weight whose limits are both zero is then zero on every machine.

    Parameters
    ----------
    coef : ndarray of shape (..., d)
    limits : sequence of Limit
    """
    for limit in limits:
        weight = coef[..., limit.feature]
        coef[..., limit.feature] = np.clip(weight, limit.low, limit.high) + 0.0  # not -0.0
    return coef


def limited_ranges(ranges: Matrix, limits: Sequence[Limit]) -> Matrix:
    """What is left of ranges of all weights, shape (d, 2), where limits are kept."""
    return within(ranges.T.copy(), limits).T


def kept_by(coef: Matrix, limits: Sequence[Limit]) -> NDArray[np.bool_]:
    """Which of several models keep within all limits, shape (n_models,)."""
    kept = np.ones(len(coef), dtype=bool)
    for limit in limits:
        kept &= limit.keeps(coef)
    return kept
