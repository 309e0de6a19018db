"""A set of models by the rows that matter: for programs too hard to be solved with all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Matrix, Vector
from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import EquivalentModels

# Rows that every known model exceeds by more than this are left out at first.
_FAR = 0.25

# By how much of a limit a model may overstep the set.
_TOLERANCE = 1e-7


class WorkingRows:
    """Some of the rows of a set; others are taken in when a solution misses them.

    With rows left out, a set is too large: what is proven of it holds for the true one as well, and
    a model found that is of the true set is as good there.

    Parameters
    ----------
    models : EquivalentModels
    coef : ndarray of shape (m, d)
        Models of the set that are known.
    offset : ndarray of shape (m, n_offsets)
    """

    def __init__(self, models: EquivalentModels, coef: Matrix, offset: Matrix) -> None:
        self._all = models
        self._rows = np.arange(models.rows.n_rows)
        if models.rows.complete:
            shortfall = models.rows.shortfall(coef, offset)
            near = (shortfall > -_FAR).any(axis=0) | models.rows.must_be_met
            self._rows = np.flatnonzero(near)

    @property
    def models(self) -> EquivalentModels:
        """The set by its working rows."""
        if not self._all.rows.complete:
            return self._all
        return replace(self._all, rows=self._all.rows.take(self._rows), start=None)

    def miss(self, coef: Vector, offset: Vector) -> bool:
        """Take in what a model of the working set shows to be missing; whether it was anything."""
        violation = self._all.violation(coef[None], offset[None])[0]
        if violation <= _TOLERANCE * max(1.0, np.abs(coef).sum()):
            return False
        rows = self._all.rows
        if isinstance(rows, CutRows):
            self._all = replace(self._all, rows=rows.with_cuts([rows.true_loss.cut(coef)]))
            return True
        short = rows.shortfall(coef[None], offset[None])[0] > 0
        known = len(self._rows)
        self._rows = np.union1d(self._rows, np.flatnonzero(short))
        return len(self._rows) > known
