"""Which weights of a model belong to which feature of which table.

The weights of ``X`` come first, those of the privileged features behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from .._validation import feature_names
from ..exceptions import InputError


@dataclass(frozen=True)
class WeightLayout:
    """The features of ``X``, then the privileged ones if there are any, with one weight each."""

    n_features: int
    n_privileged: int = 0
    names: tuple[str, ...] = ()

    @classmethod
    def from_tables(cls, tables: Sequence[Table]) -> Self:
        """The layout of ``X`` alone, or of ``X`` and the privileged table; without names."""
        X, *privileged = tables
        return cls(int(X.shape[1]), sum(int(table.shape[1]) for table in privileged))

    @classmethod
    def from_estimator(cls, est: Any) -> Self:
        """The layout of a fitted estimator, with the names of its features."""
        names = (*feature_names(est), *privileged_names(est))
        return cls(est.n_features_in_, len(names) - est.n_features_in_, names)

    @property
    def n_weights(self) -> int:
        return self.n_features + self.n_privileged

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Number of columns of each table."""
        return (self.n_features, self.n_privileged) if self.n_privileged else (self.n_features,)

    @property
    def n_tables(self) -> int:
        return len(self.table_sizes)

    def table_weights(self, table: int) -> NDArray[np.intp]:
        """The weights of the columns of a table."""
        start = sum(self.table_sizes[:table])
        return np.arange(start, start + self.table_sizes[table])

    def table_names(self, table: int) -> list[str]:
        return [self.names[j] for j in self.table_weights(table)]

    def per_weight(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of each table, shape (n_tables, ...), repeated for each of its weights."""
        return np.repeat(values, self.table_sizes, axis=0)

    def index(self, feature: int | str) -> int:
        """Place of a feature, from its name or from a place that may count from the end."""
        if isinstance(feature, str):
            if feature not in self.names:
                raise InputError(f"No feature is called {feature!r}.")
            return self.names.index(feature)
        n = self.n_weights
        if not -n <= feature < n:
            raise InputError(f"Feature {feature} is out of range: there are {n} features.")
        return int(feature) % n

    def is_privileged(self, feature: int) -> bool:
        return feature >= self.n_features


def largest_weights(coef: Vector | Matrix) -> Vector:
    """Weight of each feature: with several models, one a row, the one largest in size."""
    models = np.atleast_2d(coef)
    return models[np.abs(models).argmax(axis=0), np.arange(models.shape[1])]


def baseline_weights(est: Any) -> Vector:
    """The baseline's weight of each feature: with several models, the one largest in size."""
    return largest_weights(est.baseline_.coef_)


def privileged_names(est: Any) -> list[str]:
    """Names of the privileged features, ``z0, z1, ...`` where their table had none."""
    names = getattr(est, "privileged_names_in_", None)
    n_features = getattr(est, "n_privileged_in_", 0)
    return [f"z{j}" for j in range(n_features)] if names is None else [str(n) for n in names]
