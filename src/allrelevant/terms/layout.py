"""Assignment of model weights to the features of each table.

The weights of ``X`` come first, followed by those of the privileged features.
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
    """Order of the weights: one per feature of ``X``, then one per privileged feature."""

    n_features: int
    n_privileged: int = 0
    names: tuple[str, ...] = ()

    @classmethod
    def from_tables(cls, tables: Sequence[Table]) -> Self:
        """Return the layout of ``X`` and an optional privileged table, without names."""
        X, *privileged = tables
        return cls(int(X.shape[1]), sum(int(table.shape[1]) for table in privileged))

    @classmethod
    def from_estimator(cls, est: Any) -> Self:
        """Return the layout of a fitted estimator, with feature names."""
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
        """Return the indices of a table's weights."""
        start = sum(self.table_sizes[:table])
        return np.arange(start, start + self.table_sizes[table])

    def table_names(self, table: int) -> list[str]:
        return [self.names[j] for j in self.table_weights(table)]

    def per_weight(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat the values of each table, shape (n_tables, ...), for each of its weights."""
        return np.repeat(values, self.table_sizes, axis=0)

    def index(self, feature: int | str) -> int:
        """Return the nonnegative index of a feature, given its name or index."""
        if isinstance(feature, str):
            if feature not in self.names:
                raise InputError(f"No feature is called {feature!r}. Check the column names.")
            return self.names.index(feature)
        n = self.n_weights
        if not -n <= feature < n:
            raise InputError(
                f"Feature index {feature} is out of range: there are {n} features. Use an index "
                f"from 0 to {n - 1}."
            )
        return int(feature) % n

    def is_privileged(self, feature: int) -> bool:
        return feature >= self.n_features


def largest_weights(coef: Vector | Matrix) -> Vector:
    """Return, for each feature, its weight of largest absolute value over the models (rows)."""
    models = np.atleast_2d(coef)
    return models[np.abs(models).argmax(axis=0), np.arange(models.shape[1])]


def baseline_weights(est: Any) -> Vector:
    """Return each feature's baseline weight, the largest in absolute value if there are several."""
    return largest_weights(est.baseline_.coef_)


def privileged_names(est: Any) -> list[str]:
    """Return the names of the privileged features, by default ``z0, z1, ...``."""
    names = getattr(est, "privileged_names_in_", None)
    n_features = getattr(est, "n_privileged_in_", 0)
    return [f"z{j}" for j in range(n_features)] if names is None else [str(n) for n in names]
