"""Encoding of tables with categories, missing values and curves as columns of numbers.

A feature of the user's table becomes one column, or a block of several (see :mod:`.blocks`):

- a number without missing values is one column;
- a number with missing values has two: the value, and an indicator of missing values;
- a category has one indicator per level, and missing values are a level;
- a category with two levels is one column, the indicator of its second level;
- with curves, a number is cut into bins at its quantiles and encoded like a category;
- columns that the user declares to be one feature form a group, or a category if they are the
  indicators of its levels.

Missing numbers remain NaN, because the median that replaces them is learned by the scaling, from
the training rows of each fold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import join_names
from .._typing import Matrix, Table, Vector
from ..exceptions import InputError
from .blocks import MAX_GROUP_COLUMNS, Block
from .columns import Column, columns_from_frame, word_column
from .scaling import Scaling

# Levels with fewer rows than this are pooled.
MIN_LEVEL_ROWS = 5

# Largest number of levels of a category.
MAX_LEVELS = 30

MISSING, OTHER = "(missing)", "(other)"


@dataclass(frozen=True)
class FeatureEncoding(ABC):
    """Encoding of one feature of the user's table."""

    name: str

    @property
    def block(self) -> Block | None:
        """Block of columns; None for a single column."""
        return None

    @property
    def level_names(self) -> tuple[str, ...]:
        """Levels or bins of the feature, empty if it has none."""
        block = self.block
        return block.labels if block is not None and block.has_levels else ()

    @property
    def is_curve(self) -> bool:
        """Whether the levels are bins of a number."""
        return False

    @abstractmethod
    def encode(self, columns: Sequence[Column]) -> Matrix:
        """Return the columns of numbers, given the source columns of the feature."""


@dataclass(frozen=True)
class NumberEncoding(FeatureEncoding):
    """Number; a block if the training rows have missing values.

    Otherwise, missing values of new rows are replaced by ``median``.
    """

    has_missing: bool
    median: float

    @property
    def block(self) -> Block | None:
        return Block("group", ("value", MISSING)) if self.has_missing else None

    def encode(self, columns: Sequence[Column]) -> Matrix:
        (column,) = columns
        values = _as_numbers(column)
        if self.has_missing:
            return np.column_stack([values, column.missing.astype(float)])
        return np.where(column.missing, self.median, values)[:, None]


@dataclass(frozen=True)
class CategoryEncoding(FeatureEncoding):
    """Category with an indicator per level; the rare levels in ``pooled`` are a single level.

    Unknown levels of new rows are replaced by ``fractions``, the frequencies of the levels.
    """

    levels: tuple[str, ...]
    fractions: tuple[float, ...]
    pooled: frozenset[str] = frozenset()

    @property
    def block(self) -> Block | None:
        return Block("category", self.levels) if len(self.levels) > 2 else None

    @property
    def level_names(self) -> tuple[str, ...]:
        return self.levels

    def encode(self, columns: Sequence[Column]) -> Matrix:
        (column,) = columns
        code_of = {level: code for code, level in enumerate(self.levels)}
        words = [self._level(word) for word in _as_words(column)]
        codes = np.array([code_of.get(word, -1) for word in words], dtype=np.intp)
        # The last row, which index -1 selects, is for unknown levels.
        return _drop_redundant(np.vstack([np.eye(len(self.levels)), self.fractions])[codes])

    def _level(self, word: str | None) -> str:
        if word is None:
            return MISSING
        return OTHER if word in self.pooled else word


@dataclass(frozen=True)
class CurveEncoding(FeatureEncoding):
    """Number cut into bins at ``edges``, with an indicator per bin.

    If the training rows have missing values, these are a further bin. Otherwise, missing values of
    new rows are replaced by ``median``.
    """

    edges: tuple[float, ...]
    has_missing: bool
    median: float

    @property
    def block(self) -> Block | None:
        return Block("curve", self.level_names) if len(self.level_names) > 2 else None

    @property
    def is_curve(self) -> bool:
        return True

    @property
    def level_names(self) -> tuple[str, ...]:
        edges = [f"{edge:.4g}" for edge in self.edges]
        inner = [f"{low} to {high}" for low, high in pairwise(edges)]
        names = (f"< {edges[0]}", *inner, f">= {edges[-1]}")
        return (*names, MISSING) if self.has_missing else names

    def encode(self, columns: Sequence[Column]) -> Matrix:
        (column,) = columns
        values = np.where(column.missing & (not self.has_missing), self.median, _as_numbers(column))
        bins = np.searchsorted(self.edges, values, side="right")  # NaN follows all numbers
        bins[np.isnan(values)] = len(self.edges) + 1
        return _drop_redundant(np.eye(len(self.level_names))[bins])


@dataclass(frozen=True)
class GroupEncoding(FeatureEncoding):
    """Columns that the user declares to be one feature."""

    labels: tuple[str, ...]

    @property
    def block(self) -> Block | None:
        return Block("group", self.labels)

    def encode(self, columns: Sequence[Column]) -> Matrix:
        return np.column_stack([_as_numbers(column) for column in columns])


@dataclass(frozen=True)
class IndicatorEncoding(FeatureEncoding):
    """Indicator columns of the levels of one category, declared to be one feature."""

    levels: tuple[str, ...]

    @property
    def block(self) -> Block | None:
        return Block("category", self.levels) if len(self.levels) > 2 else None

    @property
    def level_names(self) -> tuple[str, ...]:
        return self.levels

    def encode(self, columns: Sequence[Column]) -> Matrix:
        return _drop_redundant(np.column_stack([_as_numbers(column) for column in columns]))


@dataclass(frozen=True)
class TableEncoding:
    """Encoding of a table: its features, and the source columns of each.

    ``notes`` are messages to the user on pooled levels and ignored columns.
    """

    features: tuple[FeatureEncoding, ...]
    sources: tuple[tuple[str, ...], ...]
    column_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [feature.name for feature in self.features]

    @cached_property
    def blocks(self) -> dict[int, Block]:
        """Features with several columns."""
        blocks = enumerate(feature.block for feature in self.features)
        return {j: block for j, block in blocks if block is not None}

    def columns_of(self, features: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the columns of the table, given a mask of its features."""
        chosen = {name for j in np.flatnonzero(features) for name in self.sources[j]}
        return np.array([name in chosen for name in self.column_names])

    def encode(self, X: Any) -> Matrix:
        """Return the table as a matrix of numbers; missing numbers are NaN."""
        by_name = {column.name: column for column in as_columns(X)}
        absent = [name for name in self.column_names if name not in by_name]
        if absent:
            raise InputError(f"Columns of the training table are missing: {join_names(absent)}.")
        return np.column_stack(
            [
                feature.encode([by_name[name] for name in source])
                for feature, source in zip(self.features, self.sources, strict=True)
            ]
        )


@dataclass(frozen=True)
class EncodedScaling(Scaling):
    """Encoding of a table, followed by its scaling."""

    encoding: TableEncoding = field(kw_only=True)

    def apply(self, X: Any) -> Table:
        return super().apply(self.encoding.encode(X))


@dataclass(frozen=True)
class EncodingOptions:
    """Options of the user.

    ``categorical`` are columns of codes; ``curves`` is the number of bins of each number, 0 for
    none; ``terms`` maps names of features to lists of columns. Columns are given by name or index.
    """

    categorical: Sequence[int | str] = ()
    curves: int = 0
    terms: Mapping[str, Sequence[int | str]] | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the options require an encoding of a table of numbers."""
        return bool(len(self.categorical) or self.curves or self.terms)


def needs_encoding(columns: Iterable[Column]) -> bool:
    """Return whether a table has columns other than numbers, or missing values."""
    return any(not column.is_numeric or column.missing.any() for column in columns)


def as_columns(X: Any) -> list[Column]:
    """Return the columns of a data frame or of an array."""
    columns = columns_from_frame(X)
    if columns is not None:
        return columns
    values = np.asarray(X, dtype=np.float64)
    return [Column(f"x{j}", "number", column) for j, column in enumerate(values.T)]


def fit_encoding(columns: Sequence[Column], options: EncodingOptions) -> TableEncoding:
    """Determine the encoding of a table from its columns and the options of the user."""
    names = [column.name for column in columns]
    categorical = {_resolve(column, names, "categorical") for column in options.categorical}
    declared = {
        str(term): tuple(_resolve(column, names, f"terms[{term!r}]") for column in members)
        for term, members in (options.terms or {}).items()
    }
    term_of = {name: term for term, members in declared.items() for name in members}
    by_name = dict(zip(names, columns, strict=True))
    features: list[FeatureEncoding] = []
    sources: list[tuple[str, ...]] = []
    notes: list[str] = []
    for column in columns:
        term = term_of.get(column.name)
        if term is None:
            features.append(_fit_column(column, column.name in categorical, options.curves, notes))
            sources.append((column.name,))
        elif column.name == declared[term][0]:
            features.append(_fit_term(term, [by_name[name] for name in declared[term]]))
            sources.append(declared[term])
    return TableEncoding(tuple(features), tuple(sources), tuple(names), tuple(notes))


def _resolve(column: int | str, names: Sequence[str], where: str) -> str:
    """Return the name of a column, given its name or index."""
    if isinstance(column, str):
        if column not in names:
            raise InputError(
                f"{where} names the column {column!r}, which does not exist. Check the column "
                "names."
            )
        return column
    if not -len(names) <= column < len(names):
        raise InputError(f"{where} has the column index {column}, but there are {len(names)}.")
    return names[int(column)]


def _fit_column(
    column: Column, is_categorical: bool, n_bins: int, notes: list[str]
) -> FeatureEncoding:
    if column.kind == "date":
        raise InputError(
            f"Column {column.name!r} contains dates. Convert them to numbers, such as days since "
            "the first date, or remove the column."
        )
    if column.has_levels or is_categorical:
        return _fit_category(column, notes)
    present = column.values[~column.missing]
    has_missing = bool(column.missing.any())
    median = float(np.median(present)) if len(present) else 0.0
    if n_bins and len(np.unique(present)) > n_bins:
        quantiles = np.quantile(present, np.arange(1, n_bins) / n_bins)
        edges = np.unique(quantiles[quantiles > present.min()])
        if len(edges):
            return CurveEncoding(column.name, tuple(edges.tolist()), has_missing, median)
    return NumberEncoding(column.name, has_missing, median)


def _fit_category(column: Column, notes: list[str]) -> FeatureEncoding:
    """Return the encoding of a category; rare levels are pooled, and a note says so."""
    words = column if column.has_levels else word_column(column.name, _as_words(column))
    counts = np.bincount(words.values[~words.missing], minlength=len(words.levels))
    # Ordered levels keep their order; unused levels are left out.
    levels = [level for level, n in zip(words.levels, counts, strict=True) if n]
    rare = {level for level, n in zip(words.levels, counts, strict=True) if 0 < n < MIN_LEVEL_ROWS}
    pooled = frozenset(rare) if len(rare) > 1 else frozenset()
    kept = [level for level in levels if level not in pooled]
    if pooled and not kept:
        notes.append(
            f"Column {column.name!r} has fewer than {MIN_LEVEL_ROWS} rows of each of its "
            f"{len(pooled)} values, like an identifier. It is not used."
        )
    elif pooled:
        notes.append(
            f"Column {column.name!r} has {len(pooled)} levels with fewer than {MIN_LEVEL_ROWS} "
            f"rows, which are pooled as {OTHER!r}: {join_names(sorted(pooled))}."
        )
    if len(kept) > MAX_LEVELS:
        raise InputError(
            f"Column {column.name!r} has {len(kept)} levels; at most {MAX_LEVELS} are supported. "
            "Combine levels, or remove the column."
        )
    count_of = dict(zip(words.levels, counts.tolist(), strict=True))
    rows = {level: count_of[level] for level in kept}
    if pooled:
        rows[OTHER] = sum(count_of[level] for level in pooled)
    if words.missing.any():
        rows[MISSING] = words.n_missing
    fractions = tuple(n / len(column) for n in rows.values())
    return CategoryEncoding(column.name, tuple(rows), fractions, pooled)


def _fit_term(name: str, columns: Sequence[Column]) -> FeatureEncoding:
    """Return the encoding of columns that the user declares to be one feature."""
    labels = tuple(column.name for column in columns)
    for column in columns:
        if not column.is_numeric or column.missing.any():
            raise InputError(
                f"Column {column.name!r} of the term {name!r} must contain numbers without missing "
                "values."
            )
    values = np.column_stack([column.values for column in columns])
    if np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=1) == 1.0).all():
        return IndicatorEncoding(name, labels)
    if len(columns) > MAX_GROUP_COLUMNS:
        raise InputError(
            f"The term {name!r} has {len(columns)} columns; at most {MAX_GROUP_COLUMNS} are "
            "supported, unless they are the indicators of one category."
        )
    if len(columns) == 1:
        return NumberEncoding(name, False, float(np.median(values)))
    return GroupEncoding(name, labels)


def _as_numbers(column: Column) -> Vector:
    if column.has_levels:
        raise InputError(
            f"Column {column.name!r} contains words, but contained numbers in the training table."
        )
    return np.asarray(column.values, dtype=np.float64)


def _as_words(column: Column) -> list[str | None]:
    """Return the values of a column as words; whole numbers have no decimals."""
    if column.has_levels:
        return column.words()
    return [
        None if np.isnan(value) else f"{value:.0f}" if value == round(value) else repr(value)
        for value in column.values.tolist()
    ]


def _drop_redundant(indicators: Matrix) -> Matrix:
    """Return the indicators of all levels, or that of the second level if there are two.

    The indicator of a single level is constant.
    """
    n_levels = indicators.shape[1]
    return indicators[:, 1:] if n_levels == 2 else indicators
