"""Typed columns of a table, and their conversion from data frames and object arrays.

The command and the estimators use these columns instead of a data frame library. Data frames of
pandas, Polars, PyArrow and other libraries are read with narwhals.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .._text import join_names
from .._typing import Matrix, Vector
from .._validation import to_floats
from ..exceptions import InputError

Kind = Literal["number", "boolean", "date", "category", "ordered"]

NUMERIC_KINDS = ("number", "boolean")

_MICROSECONDS_PER_DAY = 86_400e6
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, eq=False)
class Column:
    """Named column of a table.

    Values of the kinds ``"number"``, ``"boolean"`` (0 and 1) and ``"date"`` (days since 1970) are
    float64, with NaN for missing values. Values of the kinds ``"category"`` and ``"ordered"`` are
    indices into ``levels``, with -1 for missing values. The levels of an ordered column are in
    ascending order; other levels are sorted as text.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    levels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers or booleans."""
        return self.kind in NUMERIC_KINDS

    @property
    def has_levels(self) -> bool:
        """Whether the values are words: categories, ordered or not."""
        return self.kind in ("category", "ordered")

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing values, shape (n_rows,)."""
        return self.values < 0 if self.has_levels else np.isnan(self.values)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(self.missing.sum())

    def take(self, rows: NDArray[Any]) -> Column:
        """Return the given rows (indices or a mask); levels are kept, even if they do not occur."""
        return replace(self, values=self.values[rows])

    def words(self) -> list[str | None]:
        """Return the level of each row, or None if it is missing. Requires levels."""
        return [None if code < 0 else self.levels[code] for code in self.values.tolist()]


@dataclass(frozen=True, eq=False)
class Frame:
    """Table of named columns of equal length: what the command passes to ``fit``."""

    data: tuple[Column, ...]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.data]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self.data)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self) * len(self.data)

    def __len__(self) -> int:
        return len(self.data[0]) if self.data else 0

    def __iter__(self) -> Iterator[Column]:
        return iter(self.data)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.data if column.name == name)

    def select(self, names: Iterable[str]) -> Frame:
        """Return the columns with the given names, in the order of the table."""
        wanted = set(names)
        return Frame(tuple(column for column in self.data if column.name in wanted))

    def drop(self, *names: str) -> Frame:
        """Return all columns except those with the given names."""
        return Frame(tuple(column for column in self.data if column.name not in names))

    def take_rows(self, rows: NDArray[Any]) -> Frame:
        """Return the given rows (indices or a mask)."""
        return Frame(tuple(column.take(rows) for column in self.data))

    def take_columns(self, positions: Iterable[int]) -> Frame:
        """Return the columns at the given positions, in this order."""
        return Frame(tuple(self.data[position] for position in positions))

    @classmethod
    def from_numpy(cls, values: Matrix, names: Sequence[str]) -> Frame:
        """Return a table of numbers."""
        return cls(tuple(map(number_column, names, np.asarray(values).T)))

    def to_numpy(self) -> Matrix:
        """Return a float64 matrix; raise unless all columns are numbers or booleans."""
        others = [column.name for column in self.data if not column.is_numeric]
        if others:
            raise InputError(f"Columns that are not numeric: {join_names(others)}. Encode them.")
        if not self.data:
            return np.empty((0, 0))
        return np.column_stack([column.values for column in self.data])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_numpy().astype(dtype or np.float64, copy=False)


def number_column(name: str, values: ArrayLike) -> Column:
    """Return a column of numbers; NaN is missing."""
    return Column(name, "number", np.asarray(values, dtype=np.float64))


def word_column(
    name: str, words: Sequence[str | None], order: Sequence[str] | None = None
) -> Column:
    """Return a column of categories; None is missing.

    With an ``order``, the column is ordered, and levels that do not occur are left out.
    """
    occurring = {word for word in words if word is not None}
    levels = sorted(occurring) if order is None else [x for x in order if x in occurring]
    code_of: dict[str | None, int] = {level: code for code, level in enumerate(levels)}
    codes = np.array([code_of.get(word, -1) for word in words], dtype=np.int64)
    return Column(name, "category" if order is None else "ordered", codes, tuple(levels))


def columns_from_frame(X: Any) -> list[Column] | None:
    """Return the columns of a data frame, or of an array of objects or text.

    Returns None for other inputs, in particular for numeric arrays, arrays of objects that are all
    numbers, sparse tables and data frames with sparse columns. The columns of arrays are named
    ``x0, x1, ...``.

    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [41, None], "site": ["b", "a"], "ill": [True, False]})
    >>> [(column.name, column.kind, column.levels) for column in columns_from_frame(frame)]
    [('age', 'number', ()), ('site', 'category', ('a', 'b')), ('ill', 'boolean', ())]
    """
    if isinstance(X, Frame):
        return list(X.data)
    if isinstance(X, list | tuple | np.ndarray):
        return _columns_from_array(X)
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise _duplicate_names(X.columns) from None
    if not isinstance(frame, nw.DataFrame) or _has_sparse_columns(frame):
        return None
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise _duplicate_names(names)
    dtypes = list(frame.schema.values())
    numbers = [j for j, dtype in enumerate(dtypes) if dtype.is_integer() or dtype.is_float()]
    booleans = [j for j, dtype in enumerate(dtypes) if dtype == nw.Boolean]
    values = {**_convert_block(frame, numbers, "fiu"), **_convert_block(frame, booleans, "b")}
    return [
        Column(name, "boolean" if dtypes[j] == nw.Boolean else "number", values[j])
        if j in values
        else _from_series(name, frame[:, j])
        for j, name in enumerate(names)
    ]


def _convert_block(frame: Any, positions: list[int], kinds: str) -> dict[int, Vector]:
    """Return the values of several columns, by position, if their NumPy dtype is of these kinds.

    The conversion of thousands of single columns would be slow.
    """
    if not positions:
        return {}
    block = frame[:, positions].to_numpy()
    if block.dtype.kind not in kinds:  # booleans with missing values are objects
        return {}
    return dict(zip(positions, block.T.astype(np.float64), strict=True))


def _duplicate_names(names: Iterable[Any]) -> InputError:
    counts = Counter(str(name) for name in names)
    duplicates = [name for name, count in counts.items() if count > 1]
    return InputError(f"Several columns have the same name: {join_names(duplicates)}. Rename them.")


def column_from_series(y: Any, name: str) -> Column | None:
    """Return a column of a data frame (a series) or a one-dimensional array as a column.

    Returns None for other inputs.
    """
    import narwhals.stable.v2 as nw

    if isinstance(y, Column):
        return replace(y, name=name)
    if isinstance(y, list | tuple | np.ndarray):
        values = np.asarray(y)
        if values.ndim != 1:
            return None
        if values.dtype.kind in "buif":
            kind: Kind = "boolean" if values.dtype.kind == "b" else "number"
            return Column(name, kind, values.astype(np.float64))
        return column_from_objects(name, values.tolist())
    series = nw.from_native(y, series_only=True, pass_through=True)
    return _from_series(name, series) if isinstance(series, nw.Series) else None


def category_order(y: Any) -> list[Any] | None:
    """Return the categories of an ordered categorical series, lowest first; otherwise None."""
    if y is None or isinstance(y, list | tuple | np.ndarray):
        return None
    if isinstance(y, Column):
        return list(y.levels) if y.kind == "ordered" else None
    if getattr(y, "ordered", False) is True:  # a categorical array of pandas
        return list(y.categories)
    import narwhals.stable.v2 as nw

    series = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or series.dtype not in (nw.Categorical, nw.Enum):
        return None
    return _category_order(series)


def _has_sparse_columns(frame: Any) -> bool:
    if not frame.implementation.is_pandas():
        return False
    return any(str(dtype).startswith("Sparse[") for dtype in frame.to_native().dtypes)


def _from_series(name: str, series: Any) -> Column:
    """Convert a narwhals series."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name, "number", _as_floats(series))
    if dtype == nw.Boolean:
        return Column(name, "boolean", _as_floats(series))
    if dtype in (nw.Date, nw.Datetime):
        days = _as_floats(series.dt.timestamp("us")) / _MICROSECONDS_PER_DAY
        return Column(name, "date", days)
    if dtype == nw.Duration:
        days = _as_floats(series.dt.total_microseconds()) / _MICROSECONDS_PER_DAY
        return Column(name, "number", days)
    if dtype in (nw.Categorical, nw.Enum):
        return _from_categories(name, series)
    return column_from_objects(name, series.to_list())


def _as_floats(series: Any) -> Vector:
    import narwhals.stable.v2 as nw

    values = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values[series.is_null().to_numpy()] = np.nan
    return values


def _from_categories(name: str, series: Any) -> Column:
    """Convert a categorical series; the order of an ordered one is kept."""
    missing = series.is_null().to_list()
    words = [
        None if none else str(value) for value, none in zip(series.to_list(), missing, strict=True)
    ]
    order = _category_order(series)
    return word_column(name, words, None if order is None else [str(level) for level in order])


def _category_order(series: Any) -> list[Any] | None:
    """Return the categories of an ordered categorical series in their order, otherwise None."""
    import narwhals.stable.v2 as nw

    if series.dtype == nw.Enum:
        return list(series.dtype.categories)
    if series.implementation.is_pyarrow() and series.to_native().type.ordered:
        return list(series.cat.get_categories())
    return None


def _columns_from_array(X: Any) -> list[Column] | None:
    try:
        table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:  # rows of different lengths
        return None
    if table.ndim != 2 or table.dtype.kind not in "OUT":
        return None
    if not any(isinstance(value, str | datetime.date) for value in table.ravel().tolist()):
        return None
    if _holds_numbers(table):
        return None
    return [column_from_objects(f"x{j}", column.tolist()) for j, column in enumerate(table.T)]


def _holds_numbers(table: NDArray[Any]) -> bool:
    try:
        table.astype(np.float64)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # an integer beyond the range of floats is a number, too
        return True
    return True


def column_from_objects(name: str, values: Sequence[Any]) -> Column:
    """Convert Python objects: booleans, numbers, dates or times, or otherwise words."""
    cells = [None if _is_missing(value) else value for value in values]
    types = {type(cell) for cell in cells} - {type(None)}
    if types and all(issubclass(t, bool | np.bool_) for t in types):
        return Column(name, "boolean", _numbers(name, cells))
    if all(issubclass(t, Number | np.bool_) and not issubclass(t, complex) for t in types):
        return Column(name, "number", _numbers(name, cells))
    if all(issubclass(t, datetime.date) for t in types):
        days = [None if x is None else days_since_1970(x) for x in cells]
        return Column(name, "date", _numbers(name, days))
    if all(issubclass(t, datetime.timedelta | datetime.time) for t in types):
        spans = [None if x is None else _span(x) for x in cells]
        return Column(name, "number", _numbers(name, spans))
    unsuitable = [t for t in types if not issubclass(t, str | Number | np.bool_ | datetime.date)]
    if unsuitable:
        raise InputError(
            f"Column {name!r} contains values of type {unsuitable[0].__name__!r}, which cannot be "
            "used as numbers or categories. Convert them, or remove the column."
        )
    return word_column(name, [None if cell is None else str(cell) for cell in cells])


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or the NA of pandas."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # comparisons with the NA of pandas have no truth value
        return True
    except ValueError:  # an array
        return False


def _numbers(name: str, cells: Sequence[Any]) -> Vector:
    return to_floats([np.nan if cell is None else cell for cell in cells], f"column {name!r}")


def days_since_1970(value: datetime.date) -> float:
    """Return the number of days from 1970 to a date or time."""
    if not isinstance(value, datetime.datetime):
        return float((value - _EPOCH.date()).days)
    aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) / datetime.timedelta(days=1)


def _span(value: datetime.timedelta | datetime.time) -> float:
    """Return a duration, or a time of day, in days."""
    if isinstance(value, datetime.time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        return seconds / 86_400
    return value / datetime.timedelta(days=1)
