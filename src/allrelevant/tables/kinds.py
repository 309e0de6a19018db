"""What kind of values a column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..extras import import_extra

if TYPE_CHECKING:
    import pandas as pd


def holds_numbers(column: pd.Series) -> bool:
    """Whether all values that are there are numbers, or booleans, which count as 0 and 1."""
    types = import_extra("pandas", "cli").api.types
    if types.is_object_dtype(column.dtype):
        # Booleans beside empty cells, or decimals: numbers all the same.
        kind = types.infer_dtype(column, skipna=True)
        return kind in ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")
    return types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype)


def holds_booleans(column: pd.Series) -> bool:
    """Whether all values that are there are true or false."""
    types = import_extra("pandas", "cli").api.types
    return types.infer_dtype(column, skipna=True) == "boolean"


def holds_times(column: pd.Series) -> bool:
    """Whether the values are dates, times or spans of time."""
    types = import_extra("pandas", "cli").api.types
    dtype = column.dtype
    return types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def is_categorical(column: pd.Series) -> bool:
    """Whether the table itself says that the values are categories."""
    return isinstance(column.dtype, import_extra("pandas", "cli").CategoricalDtype)


def without_categories(column: pd.Series) -> pd.Series:
    """The values themselves, where a table holds them as categories."""
    return column.astype(column.cat.categories.dtype) if is_categorical(column) else column


def text_example(column: pd.Series) -> str:
    """The first value that is no number: one stray word turns a whole column into text."""
    pandas = import_extra("pandas", "cli")
    numbers = pandas.to_numeric(column.astype(str), errors="coerce")
    words = column[numbers.isna() & column.notna()]
    return f" (such as {str(words.iloc[0])[:30]!r})" if len(words) else ""
