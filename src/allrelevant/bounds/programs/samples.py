"""The data of one problem, whatever its task: a table, a target, weights, privileged features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Table, Vector
from ..models import LinearModel
from .explained_slack import Requirements, explained_rows
from .hinge_rows import HingeRows

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Samples(ABC):
    """Validated data. A task says what the target asks of a model, and how to score one.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, d)
    y : ndarray of shape (n,)
        As the task codes it.
    weight : ndarray of shape (n,)
        Weight of each sample in the loss, all positive.
    privileged : ndarray or sparse array of shape (n, p) or None
        Features that are known of the samples to learn from and of no others. They explain the
        slack of each sample; see :mod:`allrelevant.bounds.programs.explained_slack`.
    """

    X: Table
    y: Vector
    weight: Vector
    privileged: Table | None = None

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def total_weight(self) -> float:
        """Loss of a model that misses every sample by 1."""
        return float(self.weight.sum())

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table, and the one of the privileged features if there is one."""
        return (self.X,) if self.privileged is None else (self.X, self.privileged)

    @property
    def n_weights(self) -> int:
        """Number of weights of a model: one for each column of each table."""
        return sum(int(table.shape[1]) for table in self.tables)

    def weights_of(self, table: int) -> NDArray[np.intp]:
        """Which weights of a model belong to the columns of a table."""
        stops = np.cumsum([0, *(t.shape[1] for t in self.tables)])
        return np.arange(stops[table], stops[table + 1])

    @cached_property
    def rows(self) -> HingeRows:
        """What a model has to live up to."""
        if self.privileged is None:
            return self._free_rows()
        return explained_rows(self.requirements(), self.privileged, self._weight_of_slack())

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the samples."""
        some = replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows])
        return some if self.privileged is None else replace(some, privileged=self.privileged[rows])

    def with_tables(self, tables: tuple[Table, ...]) -> Self:
        """The same targets and weights with other features."""
        X, *privileged = tables
        return replace(self, X=X, privileged=privileged[0] if privileged else None)

    def append_columns(self, columns: Matrix, table: int = 0) -> Self:
        """The same samples with more features in one of the tables, behind those it has."""
        tables = list(self.tables)
        if sp.issparse(tables[table]):
            tables[table] = sp.hstack([tables[table], sp.csr_array(columns)], format="csr")
        else:
            tables[table] = np.hstack([tables[table], columns])
        return self.with_tables(tuple(tables))

    def model(
        self, coef: Vector, offset: Vector, C: float, rows: HingeRows | None = None
    ) -> LinearModel:
        """Weights and offsets as a model, norm and loss taken from the data.

        Parameters
        ----------
        coef : ndarray of shape (n_weights,)
        offset : ndarray of shape (n_offsets,)
        C : float
        rows : HingeRows, default=None
            Those that the offsets belong to, if they are not ``self.rows``.
        """
        loss = (rows or self.rows).loss(coef[None], offset[None])[0]
        explained = self.privileged is not None
        return LinearModel(
            coef_=coef[: self.n_features],
            intercept_=self._intercept(offset),
            norm_=float(np.abs(coef).sum()),
            loss_=float(loss),
            C_=float(C),
            thresholds_=self._thresholds(offset),
            privileged_coef_=coef[self.n_features :] if explained else None,
            privileged_intercept_=float(offset[-1]) if explained else None,
        )

    @abstractmethod
    def requirements(self) -> Requirements:
        """What is asked of the samples one by one, and by whom."""

    @abstractmethod
    def score(self, model: LinearModel) -> float:
        """How well a model does on these samples; more is better."""

    def merit(self, model: LinearModel) -> float:
        """What cross-validation chooses C by; more is better."""
        return self.score(model)

    @abstractmethod
    def chance(self) -> float:
        """What a model without features scores."""

    @abstractmethod
    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Splits for cross-validation, with no more folds than the samples allow."""

    def _free_rows(self) -> HingeRows:
        return self.requirements().rows

    def _weight_of_slack(self) -> Vector:
        """Weight of each sample's slack in the loss, where privileged features explain it."""
        return self.weight

    def _intercept(self, offset: Vector) -> float:
        return float(offset[0])

    def _thresholds(self, offset: Vector) -> Vector | None:
        return None


def signed_table(sign: Vector, table: Table) -> Table:
    """Each row of a table times its sign."""
    if sp.issparse(table):
        return sp.csr_array(sp.diags_array(sign) @ table)
    return sign[:, None] * table


def stacked(tables: list[Table]) -> Table:
    """Tables on top of each other."""
    if any(sp.issparse(table) for table in tables):
        return sp.vstack(tables, format="csr")
    return np.vstack(tables)
