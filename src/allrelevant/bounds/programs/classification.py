"""Two-class problems: samples, and the sets of classifiers equivalent to a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Table, Vector
from ..models import LinearModel
from .equivalent_models import Budget, EquivalentModels, Start
from .hinge_rows import HingeRows


@dataclass(frozen=True)
class Samples:
    """Validated two-class data.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, d)
    y : ndarray of shape (n,)
        -1 or +1.
    weight : ndarray of shape (n,)
        Weight of each sample's slack in the loss, all positive.
    """

    X: Table
    y: Vector
    weight: Vector

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def rows(self) -> HingeRows:
        """``y (w . x + offset) >= 1`` for each sample."""
        if sp.issparse(self.X):
            table = sp.csr_array(sp.diags_array(self.y) @ self.X)
        else:
            table = self.y[:, None] * self.X
        return HingeRows(table, self.y[:, None], np.ones(self.n_samples), self.weight)

    def take(self, rows: NDArray[np.intp]) -> Samples:
        return Samples(self.X[rows], self.y[rows], self.weight[rows])

    def with_table(self, X: Table) -> Samples:
        """The same targets and weights with other features."""
        return Samples(X, self.y, self.weight)

    def append_columns(self, columns: Matrix) -> Samples:
        """The same samples with more features, behind those they have."""
        if sp.issparse(self.X):
            return self.with_table(sp.hstack([self.X, sp.csr_array(columns)], format="csr"))
        return self.with_table(np.hstack([self.X, columns]))


def separate_budgets(
    samples: Samples, norm: float, loss: float, baseline: LinearModel | None = None
) -> EquivalentModels:
    """Classifiers with ``|w|_1 <= norm`` and ``hinge loss <= loss``."""
    budgets = (Budget(1.0, 0.0, norm), Budget(0.0, 1.0, loss))
    return _classifiers(samples, budgets, norm, loss, baseline)


def joint_budget(
    samples: Samples, C: float, limit: float, baseline: LinearModel | None = None
) -> EquivalentModels:
    """Classifiers with ``|w|_1 + C * hinge loss <= limit``."""
    return _classifiers(samples, (Budget(1.0, C, limit),), limit, limit / C, baseline)


def _classifiers(
    samples: Samples,
    budgets: tuple[Budget, ...],
    largest_norm: float,
    largest_loss: float,
    baseline: LinearModel | None,
) -> EquivalentModels:
    offset_range = _offset_range(samples, largest_norm, largest_loss)
    return EquivalentModels(samples.rows, budgets, offset_range, _start(baseline))


def _start(baseline: LinearModel | None) -> Start | None:
    if baseline is None or baseline.multipliers_ is None:
        return None
    return Start(baseline.coef_, np.array([baseline.intercept_]), baseline.multipliers_)


def _offset_range(samples: Samples, largest_norm: float, largest_loss: float) -> Matrix:
    """Bounds that the offset of every model satisfies.

    Over the samples of a class, with the weighted mean x of the rows and their total weight W, the
    slacks say ``offset >= 1 - w . x - loss / W`` for the positive ones and the same with both
    signs turned for the negative ones; and the budgets limit loss and ``|w . x|``.
    """
    reach = []
    for sign in (1.0, -1.0):
        weight = np.where(samples.y == sign, samples.weight, 0.0)
        mean = np.asarray(weight @ samples.X) / weight.sum()
        reach.append(largest_norm * np.abs(mean).max() + largest_loss / weight.sum() - 1.0)
    return np.array([[-reach[0], reach[1]]])
