"""Certified bounds on weights by projections of the baseline's dual variables, without an LP.

The dual variables a of the baseline certify ``w_j <= gap / (1 - v_j)`` with ``v = table' a`` (see
:mod:`.proofs`), which is loose if ``v_j`` is near 1. This module looks for dual variables near a
whose ``v_j`` is at most a given value, while ``|v_k| <= 1`` for all features k. These conditions
and those on the signs and the offsets are convex, so that projections onto them converge to dual
variables that satisfy all of them. A few steps suffice, because the error is certified as well:
the certificate is valid for any dual variables, and only gets looser by violated conditions.

All conditions are projected onto at the same time, with an extrapolated step (Pierra 1984). Only
features with large ``|v_k|`` at the baseline are considered. The certificate considers all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Matrix, Table, Vector
from ...deadline import NO_DEADLINE, Deadline
from ..programs.equivalent_models import EquivalentModels
from .proofs import Certificates

# Features with |v_k| of at least this fraction of the largest one are considered in projections.
NEAR = 0.8

# Numbers of projections after which the certificates are computed. Only features that are still
# above their threshold continue.
STEPS = (3, 9)

# Part of the room between the gap and the threshold that v_j may use up; the gap needs the rest.
ROOM_FOR_COMBINATION = 0.5

# Numbers per batch of features.
NUMBERS_PER_BATCH = 4_000_000

# Columns are left out of a certificate if their combination is below 1 by at least this.
MARGIN = 1e-9


class ProjectedCertificates:
    """Certified bounds on the weights of a set of models whose start is an l1 baseline."""

    def __init__(self, models: EquivalentModels) -> None:
        if models.start is None:
            raise ValueError("Projections require the dual variables of a start.")
        self._models, rows = models, models.rows
        multipliers = np.maximum(models.start.multipliers, 0.0)
        combination = rows.row_combination(multipliers)
        largest = np.abs(combination).max()
        self._multipliers, self._combination = multipliers / largest, combination / largest
        price = (self._multipliers / rows.weight).max()
        self._limit = np.where(rows.is_hard, np.inf, price * rows.weight_in_loss)
        near = np.flatnonzero(np.abs(self._combination) >= NEAR)
        self._near = rows.feature_rows(near)
        self._near_length2 = _squared_lengths(self._near)
        start = Certificates(models, self._multipliers[None]).ranges()
        self._gap = float(np.abs(start).min(axis=1).max())

    def can_reach(self, threshold: Vector) -> NDArray[np.bool_]:
        """Return whether a feature that does not help can be certified not to exceed a value."""
        return threshold > self._gap

    def ranges(
        self,
        features: NDArray[np.intp],
        threshold: Vector,
        deadline: Deadline = NO_DEADLINE,
    ) -> Matrix:
        """Return certified bounds on the weights of features, shape (m, 2).

        The bounds are only as tight as needed to be at most the threshold of each feature, if they
        get so tight. After the deadline, :exc:`TimeLimitError` is raised.
        """
        found = np.tile([-np.inf, np.inf], (len(features), 1))
        size = max(1, NUMBERS_PER_BATCH // (self._near.shape[0] + self._models.rows.n_rows))
        for begin in range(0, len(features), size):
            deadline.check()
            part = slice(begin, begin + size)
            found[part] = self._batch_ranges(features[part], threshold[part])
        return found

    def _batch_ranges(self, features: NDArray[np.intp], threshold: Vector) -> Matrix:
        found = np.tile([-np.inf, np.inf], (len(features), 1))
        own = _dense(self._models.rows.feature_rows(features))
        own *= np.where(self._combination[features] < 0, -1.0, 1.0)[:, None]
        limit = ROOM_FOR_COMBINATION * (1.0 - self._gap / np.maximum(threshold, self._gap))
        multipliers = np.tile(self._multipliers, (len(features), 1))
        pending = np.arange(len(features))
        for n_steps in STEPS:
            for _ in range(n_steps):
                multipliers = self._project(multipliers, own[pending], limit[pending])
            ranges = self._certified(multipliers, features[pending])
            found[pending] = ranges
            is_open = np.abs(ranges).max(axis=1) > threshold[pending]
            pending, multipliers = pending[is_open], multipliers[is_open]
            if len(pending) == 0:
                break
        return found

    def _project(self, multipliers: Matrix, own: Matrix, limit: Vector) -> Matrix:
        """Perform one step of extrapolated parallel projections for each of m features."""
        values = np.asarray((self._near @ multipliers.T).T)
        step, squares = self._near_step(values)
        excess = np.maximum(np.einsum("ij,ij->i", own, multipliers) - limit, 0.0)
        length2 = np.maximum(np.einsum("ij,ij->i", own, own), np.finfo(float).tiny)
        step += (excess / length2)[:, None] * own
        squares += excess**2 / length2
        for column in self._models.rows.offset_table.T:
            imbalance, length = multipliers @ column, column @ column
            step += np.outer(imbalance / length, column)
            squares += imbalance**2 / length
        length2 = np.einsum("ij,ij->i", step, step)
        factor = np.divide(squares, length2, out=np.zeros_like(squares), where=length2 > 0)
        return np.clip(multipliers - factor[:, None] * step, 0.0, self._limit)

    def _near_step(self, values: Matrix) -> tuple[Matrix, Vector]:
        """Return the sum of the projections onto ``|v_k| <= 1``, and of their squared lengths."""
        violated = np.nonzero(np.abs(values) > 1.0)
        beyond = values[violated]
        beyond -= np.sign(beyond)
        length2 = self._near_length2[violated[1]]
        parts = sp.csr_array((beyond / length2, violated), shape=values.shape)
        step = parts @ self._near
        squares = np.zeros(len(values))
        np.add.at(squares, violated[0], beyond**2 / length2)
        return _dense(step), squares

    def _certified(self, multipliers: Matrix, features: NDArray[np.intp]) -> Matrix:
        """Return the bound of each feature that follows from its own dual variables."""
        rows = self._models.rows
        columns = np.union1d(self._columns_above(multipliers.max(axis=0)), features)
        models = replace(self._models, rows=rows.take_columns(columns), start=None)
        places = np.searchsorted(columns, features)
        size = max(1, NUMBERS_PER_BATCH // len(columns))
        parts = []
        for begin in range(0, len(features), size):
            part = slice(begin, begin + size)
            certificates = Certificates(models, multipliers[part], least_price=1.0)
            parts.append(certificates.own_ranges(places[part]))
        return np.concatenate(parts)

    def _columns_above(self, largest: Vector) -> NDArray[np.intp]:
        """Return the columns whose combination can exceed 1 for multipliers up to the largest."""
        rows = self._models.rows
        if not sp.issparse(rows.table):
            return np.arange(rows.n_weights)
        total, size = rows.row_combination(largest), rows.absolute_combination(largest)
        return np.flatnonzero(np.abs(total) + size > 2.0 * (1.0 - MARGIN))


def _dense(table: Table) -> Matrix:
    return table.toarray() if sp.issparse(table) else np.array(table, dtype=float)


def _squared_lengths(table: Table) -> Vector:
    squares = table.multiply(table) if sp.issparse(table) else table * table
    return np.maximum(np.asarray(squares.sum(axis=1)).ravel(), np.finfo(float).tiny)
