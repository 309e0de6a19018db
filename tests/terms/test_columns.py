"""Tests of typed columns and of their conversion from data frames and arrays."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from allrelevant import InputError
from allrelevant.terms.columns import (
    Column,
    Frame,
    column_from_series,
    columns_from_frame,
    number_column,
    word_column,
)

DAY = datetime.date(2024, 2, 29)
DAYS = (DAY - datetime.date(1970, 1, 1)).days
NOON = datetime.datetime(2024, 2, 29, 12)

# Python values with one missing value, and the expected column.
VALUES: dict[str, tuple[list[Any], Column]] = {
    "integers": ([3, None, -1], Column("c", "number", np.array([3, np.nan, -1]))),
    "floats": ([0.5, None, 2.0], Column("c", "number", np.array([0.5, np.nan, 2]))),
    "decimals": ([Decimal("1.5"), None], Column("c", "number", np.array([1.5, np.nan]))),
    "booleans": ([True, None, False], Column("c", "boolean", np.array([1, np.nan, 0]))),
    "words": (
        ["low", None, "high"],
        Column("c", "category", np.array([1, -1, 0]), ("high", "low")),
    ),
    "dates": ([DAY, None], Column("c", "date", np.array([DAYS, np.nan]))),
    "times": ([NOON, None], Column("c", "date", np.array([DAYS + 0.5, np.nan]))),
    "durations": (
        [datetime.timedelta(hours=36), None],
        Column("c", "number", np.array([1.5, np.nan])),
    ),
    "times of day": ([datetime.time(18), None], Column("c", "number", np.array([0.75, np.nan]))),
    "nothing": ([None, None], Column("c", "number", np.array([np.nan, np.nan]))),
}

LIBRARIES = {
    "pandas": lambda values: pd.DataFrame({"c": values}),
    "pandas objects": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
    "pandas nullable": lambda values: pd.DataFrame({"c": values}).convert_dtypes(),
    "pandas with pyarrow": lambda values: pd.DataFrame(
        {"c": pd.Series(pa.array(values).to_pandas(types_mapper=pd.ArrowDtype))}
    ),
    "polars": lambda values: pl.DataFrame({"c": values}),
    "pyarrow": lambda values: pa.table({"c": values}),
}


def check_equal(actual: Column, expected: Column) -> None:
    assert (actual.name, actual.kind) == (expected.name, expected.kind)
    assert actual.levels == expected.levels
    np.testing.assert_allclose(actual.values, expected.values, rtol=1e-12)
    np.testing.assert_array_equal(actual.missing, expected.missing)


def only_column(X: Any) -> Column:
    columns = columns_from_frame(X)
    assert columns is not None
    (column,) = columns
    return column


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", VALUES)
def test_kinds_of_values(library: str, kind: str) -> None:
    values, expected = VALUES[kind]
    check_equal(only_column(LIBRARIES[library](values)), expected)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", VALUES)
def test_series(library: str, kind: str) -> None:
    values, expected = VALUES[kind]
    column = column_from_series(LIBRARIES[library](values)["c"], "c")
    assert column is not None
    check_equal(column, expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_different_kinds_keep_their_places(library: str) -> None:
    values = {name: VALUES[name][0] for name in ("integers", "booleans", "words", "floats")}
    parts = [LIBRARIES[library](cells) for cells in values.values()]
    frame: Any
    if library == "pyarrow":
        frame = pa.table([part["c"] for part in parts], names=list(values))
    elif library == "polars":
        frame = pl.DataFrame({name: p["c"] for name, p in zip(values, parts, strict=True)})
    else:
        frame = pd.DataFrame({name: p["c"] for name, p in zip(values, parts, strict=True)})
    columns = columns_from_frame(frame)
    assert columns is not None
    for column, name in zip(columns, values, strict=True):
        check_equal(column, replace(VALUES[name][1], name=name))


def test_time_zones() -> None:
    zone = "America/New_York"
    expected = Column("c", "date", np.array([DAYS + 17 / 24, np.nan]))
    for frame in (
        pd.DataFrame({"c": pd.Series(pd.to_datetime([NOON, None])).dt.tz_localize(zone)}),
        pl.DataFrame({"c": pl.Series([NOON, None]).dt.replace_time_zone(zone)}),
    ):
        check_equal(only_column(frame), expected)


SIZES = ["small", "large"]
ORDERED = {
    "pandas": pd.DataFrame({"c": pd.Categorical([*SIZES, None], SIZES, ordered=True)}),
    "pandas, unused levels": pd.DataFrame(
        {"c": pd.Categorical([*SIZES, None], ["tiny", "small", "medium", "large"], ordered=True)}
    ),
    "polars": pl.DataFrame({"c": pl.Series([*SIZES, None], dtype=pl.Enum(SIZES))}),
    "pyarrow": pa.table({"c": pa.DictionaryArray.from_arrays([0, 1, None], SIZES, ordered=True)}),
}
UNORDERED = {
    "pandas": pd.DataFrame({"c": pd.Categorical([*SIZES, None], SIZES)}),
    "polars": pl.DataFrame({"c": pl.Series([*SIZES, None], dtype=pl.Categorical)}),
    "pyarrow": pa.table({"c": pa.array([*SIZES, None]).dictionary_encode()}),
}


@pytest.mark.parametrize("library", ORDERED)
def test_ordered_categories_keep_their_order(library: str) -> None:
    expected = Column("c", "ordered", np.array([0, 1, -1]), ("small", "large"))
    check_equal(only_column(ORDERED[library]), expected)


@pytest.mark.parametrize("library", UNORDERED)
def test_other_categories_are_sorted(library: str) -> None:
    expected = Column("c", "category", np.array([1, 0, -1]), ("large", "small"))
    check_equal(only_column(UNORDERED[library]), expected)


def test_categories_that_are_numbers() -> None:
    frame = pd.DataFrame({"c": pd.Categorical([10, 9, None, 10], [9, 10], ordered=True)})
    check_equal(only_column(frame), Column("c", "ordered", np.array([1, 0, -1, 1]), ("9", "10")))


def test_numbers_and_words_are_categories() -> None:
    expected = Column("x0", "category", np.array([0, 1, -1]), ("41", "old"))
    check_equal(only_column(np.array([[41], ["old"], [None]], dtype=object)), expected)
    check_equal(only_column([[41], ["old"], [None]]), expected)
    mixed = pd.DataFrame({"x0": pd.Series([41, "old", pd.NA], dtype=object)})
    check_equal(only_column(mixed), expected)


def test_arrays_of_objects() -> None:
    X = np.array([[1.5, "a", True], [np.nan, None, False]], dtype=object)
    columns = columns_from_frame(X)
    assert columns is not None
    assert [c.kind for c in columns] == ["number", "category", "boolean"]
    assert [c.name for c in columns] == ["x0", "x1", "x2"]
    assert [c.n_missing for c in columns] == [1, 1, 0]


@pytest.mark.parametrize(
    "X",
    [
        np.ones((3, 2)),
        np.ones((3, 2), dtype=int),
        np.ones((3, 2), dtype=object),
        np.array([["1", "2.5"]]),
        np.array([[{"a": 1}, 2.0]], dtype=object),
        [[1.0, 2.0], [3.0, 4.0]],
        [[1.0], [3.0, 4.0]],
        sp.csr_array(np.eye(3)),
        sp.csr_matrix(np.eye(3)),
        pd.DataFrame.sparse.from_spmatrix(sp.csr_array(np.eye(3))),
        pl.LazyFrame({"a": [1.0]}),
        "text",
        None,
    ],
)
def test_other_inputs_have_no_columns(X: Any) -> None:
    assert columns_from_frame(X) is None


def test_unsuitable_frames() -> None:
    with pytest.raises(InputError, match="same name: 'a'"):
        columns_from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="same name: '7'"):
        columns_from_frame(pd.DataFrame([[1, 2]], columns=[7, "7"]))
    for frame in (pd.DataFrame({"a": [[1], [2]]}), pl.DataFrame({"a": [[1], [2]]})):
        with pytest.raises(InputError, match="'a' contains values of type"):
            columns_from_frame(frame)


def test_names_are_text() -> None:
    columns = columns_from_frame(pd.DataFrame([[1, 2]], columns=[7, "b"]))
    assert columns is not None
    assert [column.name for column in columns] == ["7", "b"]


def test_frames() -> None:
    frame = Frame((number_column("a", [1, 2, 3]), word_column("b", ["x", None, "y"])))
    assert columns_from_frame(frame) == list(frame.data)
    assert (frame.columns, frame.shape, frame.size, len(frame)) == (["a", "b"], (3, 2), 6, 3)
    part = frame.take_rows(np.array([2, 1]))
    assert part["a"].values.tolist() == [3, 2]
    assert part["b"].words() == ["y", None]
    assert part["b"].levels == ("x", "y")
    assert frame.take_rows(np.array([True, False, True]))["b"].words() == ["x", "y"]
    assert frame.take_columns([1, 0]).columns == ["b", "a"]
    assert frame.select(["b"]).columns == frame.drop("a").columns == ["b"]
    np.testing.assert_array_equal(np.asarray(frame.select(["a"])), [[1.0], [2.0], [3.0]])
    with pytest.raises(InputError, match="'b'"):
        np.asarray(frame)
