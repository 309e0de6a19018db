"""Two-class problems: the l1-regularised SVM, and the classifiers equivalent to it.

The variables, in the order of the columns::

    positive (d)  >= 0    positive part of the weights, w = positive - negative
    negative (d)  >= 0    negative part
    offset   (1)  free    f(x) = w . x + offset
    slack    (n)  >= 0    margin intrusion of each sample

and the rows::

    sample i:   y_i (w . x_i + offset) + slack_i >= 1
    budget:     norm_coefficient * sum(positive + negative)
                  + loss_coefficient * sum(weight * slack) <= limit
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Table, Vector
from .equivalent_models import Cover, EquivalentModels
from .linear_program import LinearProgram


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

    def hinge_loss(self, coef: Matrix, offset: Matrix) -> Vector:
        """Weighted hinge loss of each of several models, straight from the data.

        Parameters
        ----------
        coef : ndarray of shape (n_models, d)
        offset : ndarray of shape (n_models, 1)
        """
        margin = self.y * (np.asarray(coef @ self.X.T) + offset)
        return np.maximum(0.0, 1.0 - margin) @ self.weight

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


@dataclass(frozen=True)
class Budget:
    """A limit on ``norm_coefficient * |w|_1 + loss_coefficient * loss``."""

    norm_coefficient: float
    loss_coefficient: float
    limit: float

    def overdraft(self, norm: Vector, loss: Vector) -> Vector:
        return self.norm_coefficient * norm + self.loss_coefficient * loss - self.limit


def l1_svm_program(samples: Samples, C: float) -> LinearProgram:
    """Minimise ``|w|_1 + C * loss``: the baseline of the separate budgets."""
    matrix, blocks = _sample_rows(samples)
    return LinearProgram(
        matrix=matrix,
        cost=_budget_row(samples, Budget(1.0, C, np.inf)),
        row_lower=np.ones(samples.n_samples),
        row_upper=np.full(samples.n_samples, np.inf),
        column_lower=_column_lower(samples),
        column_upper=np.full(matrix.shape[1], np.inf),
        blocks=blocks,
    )


@dataclass(frozen=True)
class EquivalentClassifiers(EquivalentModels):
    """All linear classifiers within the budgets.

    Use :func:`separate_budgets` or :func:`joint_budget` to make one.
    """

    samples: Samples
    budgets: tuple[Budget, ...]

    @property
    def n_weights(self) -> int:
        return self.samples.n_features

    @cached_property
    def program(self) -> LinearProgram:
        samples = self.samples
        sample_rows, blocks = _sample_rows(samples)
        budget_rows = sp.csc_array(np.vstack([_budget_row(samples, b) for b in self.budgets]))
        matrix = sp.vstack([sample_rows, budget_rows], format="csc")
        limits = np.array([budget.limit for budget in self.budgets])
        lower, upper = _column_lower(samples), np.full(matrix.shape[1], np.inf)
        lower[blocks["offset"]], upper[blocks["offset"]] = self._offset_range()
        return LinearProgram(
            matrix=matrix,
            cost=np.zeros(matrix.shape[1]),
            row_lower=np.r_[np.ones(samples.n_samples), np.full(len(limits), -np.inf)],
            row_upper=np.r_[np.full(samples.n_samples, np.inf), limits],
            column_lower=lower,
            column_upper=upper,
            blocks=blocks,
        )

    @cached_property
    def covers(self) -> tuple[Cover, ...]:
        n_weight_columns = 2 * self.n_weights
        covered = np.zeros(self.program.n_columns, dtype=bool)
        covered[n_weight_columns] = True  # the offset has finite bounds of its own
        covers = []
        for index, budget in enumerate(self.budgets):
            coefficients = _budget_row(self.samples, budget)
            columns = np.flatnonzero((coefficients > 0) & ~covered)
            covered[columns] = True
            covers.append(Cover(self.samples.n_samples + index, columns, coefficients[columns]))
        return tuple(covers)

    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        norm = np.abs(coef).sum(axis=1)
        loss = self.samples.hinge_loss(coef, offset)
        return np.max([budget.overdraft(norm, loss) for budget in self.budgets], axis=0)

    def _largest(self, quantity: str) -> float:
        """The largest norm, or loss, that the budgets allow."""
        coefficients = [(getattr(b, f"{quantity}_coefficient"), b.limit) for b in self.budgets]
        return min(limit / c for c, limit in coefficients if c > 0)

    def _offset_range(self) -> tuple[float, float]:
        """Bounds that every model of the set satisfies, so that the polytope has finite width.

        A positive sample needs ``offset >= 1 - slack - w . x``, a negative one
        ``offset <= slack - 1 - w . x``, and the budgets limit both slack and ``|w . x|``.
        """
        samples = self.samples
        largest_entry = np.asarray(abs(samples.X).max(axis=1)).ravel()
        if sp.issparse(samples.X):
            largest_entry = abs(samples.X).max(axis=1).toarray().ravel()
        reach = self._largest("norm") * largest_entry + self._largest("loss") / samples.weight - 1.0
        positive = samples.y > 0
        return -float(reach[positive].min()), float(reach[~positive].min())


def separate_budgets(samples: Samples, norm: float, loss: float) -> EquivalentClassifiers:
    """Classifiers with ``|w|_1 <= norm`` and ``hinge loss <= loss``."""
    return EquivalentClassifiers(samples, (Budget(1.0, 0.0, norm), Budget(0.0, 1.0, loss)))


def joint_budget(samples: Samples, C: float, limit: float) -> EquivalentClassifiers:
    """Classifiers with ``|w|_1 + C * hinge loss <= limit``."""
    return EquivalentClassifiers(samples, (Budget(1.0, C, limit),))


def _sample_rows(samples: Samples) -> tuple[sp.csc_array, dict[str, slice]]:
    n, d = samples.n_samples, samples.n_features
    signed = sp.csc_array(sp.diags_array(samples.y) @ sp.csc_array(samples.X))
    offset = sp.csc_array(samples.y[:, None])
    matrix = sp.hstack([signed, -signed, offset, sp.eye_array(n)], format="csc")
    return matrix, _blocks((("positive", d), ("negative", d), ("offset", 1), ("slack", n)))


def _blocks(sizes: Sequence[tuple[str, int]]) -> dict[str, slice]:
    stops = np.cumsum([size for _, size in sizes])
    return {
        name: slice(int(stop) - size, int(stop))
        for (name, size), stop in zip(sizes, stops, strict=True)
    }


def _budget_row(samples: Samples, budget: Budget) -> Vector:
    d = samples.n_features
    return np.r_[
        np.full(2 * d, budget.norm_coefficient), 0.0, budget.loss_coefficient * samples.weight
    ]


def _column_lower(samples: Samples) -> Vector:
    lower = np.zeros(2 * samples.n_features + 1 + samples.n_samples)
    lower[2 * samples.n_features] = -np.inf
    return lower
