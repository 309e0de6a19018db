"""Saliency of features with several columns: categories, and numbers with missing values.

A model is trained on the encoded columns of a table, so its gradient has one entry per column. The
saliency of a feature of the user's table is the Euclidean norm of the entries of its columns, as in
selection. Its sign has a meaning for each row:

- number: positive if a larger value supports the target;
- category, or missing number: positive if the level of the row (or the fact that its value is
  missing) supports the target, that is, if the gain is smaller with the mean of the training rows
  in these columns. A gradient would not tell, because it describes small changes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import warn_caller
from ..terms.columns import Frame
from ..terms.encoding import EncodingOptions, TableEncoding, as_columns, fit_encoding
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling, no_scaling, standard_scaling
from .explanation import Explanation

Gains = Callable[[Matrix], Vector]


@dataclass(frozen=True)
class EncodedRows:
    """Encoding and scaling of a table, learned on its training rows.

    ``center`` is the mean of the scaled training rows.
    """

    encoding: TableEncoding
    layout: WeightLayout
    scaling: Scaling | None
    center: Vector

    @classmethod
    def from_table(cls, X: Frame, *, standardize: bool) -> Self:
        """Learn encoding and scaling from training rows; warn about pooled levels."""
        encoding = fit_encoding(X.data, EncodingOptions())
        for note in encoding.notes:
            warn_caller(note)
        return cls.fit(encoding, encoding.encode(X), standardize=standardize)

    @classmethod
    def fit(
        cls,
        encoding: TableEncoding,
        columns: Matrix,
        *,
        standardize: bool,
        weight: Vector | None = None,
        only_blocks: bool = False,
    ) -> Self:
        """Learn scaling and mean from the encoded columns of the training rows.

        With ``only_blocks``, tables without features of several columns are not scaled.
        """
        layout = WeightLayout(len(encoding.features), blocks=encoding.blocks)
        weight = np.ones(len(columns)) if weight is None else weight
        scaling = None
        if layout.blocks or not only_blocks:
            fit_scaling = standard_scaling if standardize else no_scaling
            scaling = fit_scaling(columns, weight, layout.table_blocks(0))
            columns = scaling.apply(columns)
        return cls(encoding, layout, scaling, np.average(columns, axis=0, weights=weight))

    def apply(self, X: Any) -> Matrix:
        """Return rows of the user's table as scaled columns of numbers."""
        columns = self.encoding.encode(X)
        return columns if self.scaling is None else self.scaling.apply(columns)

    def combine(self, explanation: Explanation, X: Any, gains: Gains) -> Explanation:
        """Return an explanation of the features, given that of the columns.

        ``X`` are the explained rows of the user's table. ``gains`` returns the gains of further
        rows of columns, for the same targets.
        """
        rows, gradient = self.apply(X), explanation.saliency
        by_name = {column.name: column for column in as_columns(X)}
        saliency = np.zeros((len(gradient), self.layout.n_features))
        for j, (feature, source) in enumerate(
            zip(self.encoding.features, self.encoding.sources, strict=True)
        ):
            own = self.layout.weights_of(j)
            size = np.linalg.norm(gradient[:, own], axis=1)
            has_level = np.full(len(rows), bool(feature.level_names))
            if len(own) > 1 and not feature.level_names:
                has_level = by_name[source[0]].missing
            sign = np.where(gradient[:, own[0]] < 0, -1.0, 1.0)
            if has_level.any() and size.any():
                average = rows.copy()
                average[:, own] = self.center[own]
                advantage = explanation.gains - gains(average)
                sign = np.where(has_level, np.where(advantage < 0, -1.0, 1.0), sign)
            saliency[:, j] = sign * size
        return replace(
            explanation,
            saliency=saliency,
            features=feature_values(X),
            names=list(self.encoding.names),
        )


def feature_values(X: Any) -> NDArray[Any]:
    """Return the values of a table as objects: numbers, words, and None for missing values."""
    columns = as_columns(X)
    cells = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        if column.has_levels:
            cells[:, j] = column.words()
        else:
            values = column.values.tolist()
            cells[:, j] = [None if np.isnan(value) else value for value in values]
    return cells
