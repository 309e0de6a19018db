"""Assignment of model weights to the features of each table.

The weights of ``X`` come first, followed by those of the privileged features. A feature has one
weight, unless it is a block of several columns (see :mod:`.blocks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Table, Vector
from .._validation import feature_names
from ..exceptions import InputError
from .blocks import Block


@dataclass(frozen=True)
class WeightLayout:
    """Order of the weights: those of the features of ``X``, then those of privileged features.

    ``blocks`` maps the features with several columns to their blocks. Privileged features are
    numbered after those of ``X``.
    """

    n_features: int
    n_privileged: int = 0
    names: tuple[str, ...] = ()
    blocks: Mapping[int, Block] = field(default_factory=dict)

    @classmethod
    def from_tables(cls, tables: Sequence[Table]) -> Self:
        """Return the layout of ``X`` and an optional privileged table, without names or blocks."""
        X, *privileged = tables
        return cls(int(X.shape[1]), sum(int(table.shape[1]) for table in privileged))

    @classmethod
    def from_estimator(cls, est: Any) -> Self:
        """Return the layout of a fitted estimator, with feature names."""
        names = (*feature_names(est), *privileged_names(est))
        return cls(est.n_features_in_, len(names) - est.n_features_in_, names)

    @property
    def n_all_features(self) -> int:
        """Number of features of all tables."""
        return self.n_features + self.n_privileged

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Number of features of each table."""
        return (self.n_features, self.n_privileged) if self.n_privileged else (self.n_features,)

    @property
    def n_tables(self) -> int:
        return len(self.table_sizes)

    @cached_property
    def widths(self) -> NDArray[np.intp]:
        """Number of weights of each feature, shape (n_all_features,)."""
        widths = np.ones(self.n_all_features, dtype=np.intp)
        for feature, block in self.blocks.items():
            widths[feature] = block.n_columns
        return widths

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Index of the first weight of each feature, and the number of all weights."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    @property
    def n_weights(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def features_of_weights(self) -> NDArray[np.intp]:
        """Feature of each weight, shape (n_weights,)."""
        return np.repeat(np.arange(self.n_all_features), self.widths)

    def table_features(self, table: int) -> NDArray[np.intp]:
        """Return the indices of a table's features."""
        start = sum(self.table_sizes[:table])
        return np.arange(start, start + self.table_sizes[table])

    def table_weights(self, table: int) -> NDArray[np.intp]:
        """Return the indices of a table's weights."""
        return self.weights_of(self.table_features(table))

    def weights_of(self, features: int | Iterable[int] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the weights of one or several features, in the given order."""
        wanted = np.atleast_1d(np.asarray(features, dtype=np.intp))
        if not self.blocks:
            return wanted
        parts = [np.arange(self.starts[j], self.starts[j + 1]) for j in wanted]
        return np.concatenate([np.empty(0, dtype=np.intp), *parts])

    def table_columns(self, features: NDArray[np.intp], table: int) -> NDArray[np.intp]:
        """Return the columns of features of one table, as indices into that table."""
        return self.weights_of(features) - self.starts[sum(self.table_sizes[:table])]

    def table_blocks(self, table: int) -> list[tuple[NDArray[np.intp], Block]]:
        """Return the blocks of a table, each with its columns of that table."""
        features = self.table_features(table)
        return (
            [
                (self.table_columns(np.array([j]), table), self.blocks[j])
                for j in features.tolist()
                if j in self.blocks
            ]
            if self.blocks
            else []
        )

    def has_one_weight(self, features: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the features with a single weight."""
        mask: NDArray[np.bool_] = ~np.isin(features, list(self.blocks))
        return mask

    def table_names(self, table: int) -> list[str]:
        return [self.names[j] for j in self.table_features(table)]

    def per_feature(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat the values of each table, shape (n_tables, ...), for each of its features."""
        return np.repeat(values, self.table_sizes, axis=0)

    def any_weight(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the features for which the mask is true for any of their weights."""
        return np.logical_or.reduceat(mask, self.starts[:-1]) if self.blocks else mask

    def sums(self, values: Vector) -> Vector:
        """Return the sum of the values of each feature's weights, given one value per weight."""
        return np.add.reduceat(values, self.starts[:-1]) if self.blocks else values

    def norms(self, values: Vector) -> Vector:
        """Return the Euclidean norm of each feature's values; single values are not changed."""
        return np.sqrt(self.sums(np.square(values))) if self.blocks else values

    def sizes(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the size of each feature's weights: the absolute weight of a number.

        ``coef`` has shape (..., n_weights), and the result (..., n_all_features).
        """
        if not self.blocks:
            return np.abs(coef)
        sizes = np.abs(coef[..., self.starts[:-1]])
        for feature, block in self.blocks.items():
            sizes[..., feature] = block.size(coef[..., self.weights_of(feature)])
        return sizes

    def feature_weights(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one value per feature: the weight of a number, the size of a block.

        The shapes are those of :meth:`sizes`.
        """
        if not self.blocks:
            return coef
        values = coef[..., self.starts[:-1]].copy()
        blocks = list(self.blocks)
        values[..., blocks] = self.sizes(coef)[..., blocks]
        return values

    def take(self, features: NDArray[np.intp]) -> WeightLayout:
        """Return the layout of some features of ``X`` and of all privileged features."""
        kept = [*features.tolist(), *range(self.n_features, self.n_all_features)]
        return replace(
            self,
            n_features=len(features),
            names=tuple(self.names[j] for j in kept) if self.names else (),
            blocks={i: self.blocks[j] for i, j in enumerate(kept) if j in self.blocks},
        )

    def extended(self, features: NDArray[np.intp], table: int) -> WeightLayout:
        """Return the layout of tables to one of which copies of features are appended."""
        sizes = list(self.table_sizes)
        end = sum(sizes[: table + 1])
        sizes[table] += len(features)
        added = {end + i: self.blocks[j] for i, j in enumerate(features) if j in self.blocks}
        moved = {j if j < end else j + len(features): block for j, block in self.blocks.items()}
        return WeightLayout(sizes[0], sum(sizes[1:]), blocks={**moved, **added})

    def index(self, feature: int | str) -> int:
        """Return the nonnegative index of a feature, given its name or index."""
        if isinstance(feature, str):
            if feature not in self.names:
                raise InputError(f"No feature is called {feature!r}. Check the column names.")
            return self.names.index(feature)
        n = self.n_all_features
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


def privileged_names(est: Any) -> list[str]:
    """Return the names of the privileged features, by default ``z0, z1, ...``."""
    names = getattr(est, "privileged_names_in_", None)
    n_features = getattr(est, "n_privileged_in_", 0)
    return [f"z{j}" for j in range(n_features)] if names is None else [str(n) for n in names]
