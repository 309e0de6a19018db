"""Tests of type inference from text cells, with the reader of pandas as the reference."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.tables import parsing
from allrelevant.tables.parsing import MISSING, drop_marks, parse_column, parse_columns
from allrelevant.tables.text import read_text
from allrelevant.terms.columns import Column, columns_from_frame

nan = math.nan


def parse(*cells: str, decimal_comma: bool = False) -> tuple[Column, list[str]]:
    rows = parsing._Cells(cells)
    (column,), notes = parse_columns(["c"], rows, decimal_comma=decimal_comma)
    return column, notes


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2.5", "1e3", " 7 "], "number", [1, -2.5, 1000, 7]),
        (["1", "", "NA", "nan", "  "], "number", [1, nan, nan, nan, nan]),
        (["inf", "-inf"], "number", [np.inf, -np.inf]),
        (["", "NA"], "number", [nan, nan]),
        (["True", "false", "", "TRUE"], "boolean", [1, 0, nan, 1]),
        (["1970-01-02", "1970-01-01T12:00", ""], "date", [1, 0.5, nan]),
        (["1970/1/2", "1970/01/03"], "date", [1, 2]),
        (["02.01.1970", "3.1.1970"], "date", [1, 2]),
        (["13/01/1970", "02/01/1970"], "date", [12, 1]),
        (["01/13/1970", "01/02/1970"], "date", [12, 1]),
        (["1970-01-01 02:00:00+02:00", "1970-01-02 00:00Z"], "date", [0, 1]),
        (["1970-02-30"], "category", [0]),
        (["b", "a", "None"], "category", [1, 0, -1]),
        (["1", "two"], "category", [0, 1]),
        (["1_000", "2"], "category", [0, 1]),
        (["1.2.3", "4"], "category", [0, 1]),
    ],
)
def test_types(cells: list[str], kind: str, values: list[float]) -> None:
    column = parse_column("c", cells)
    assert column.kind == kind
    np.testing.assert_allclose(column.values, values)


@pytest.mark.parametrize(
    ("cells", "decimal_comma", "values", "note"),
    [
        (["1,5", "2"], False, [1.5, 2], "decimal commas"),
        (["1.234,5", "2"], False, [1234.5, 2], "decimal commas"),
        (["-0,5", "1,25e3"], False, [-0.5, 1250], "decimal commas"),
        (["1,234", "12,345,678"], False, [1234, 12345678], "thousands separators"),
        (["1,234.5", "2"], False, [1234.5, 2], "thousands separators"),
        (["1 234", "2"], False, [1234, 2], "thousands separators"),
        (["1'234.5", "2"], False, [1234.5, 2], "thousands separators"),
        (["1,234", "2,345"], False, [1234, 2345], "thousands separators"),
        (["1,234", "2,345"], True, [1.234, 2.345], "decimal commas"),
    ],
)
def test_numbers_with_commas(
    cells: list[str], decimal_comma: bool, values: list[float], note: str
) -> None:
    column, notes = parse(*cells, decimal_comma=decimal_comma)
    assert column.kind == "number"
    np.testing.assert_allclose(column.values, values)
    assert notes == [f"Numbers were read with {note} in 'c'."]


def test_one_column_shows_how_to_read_the_others() -> None:
    text = "a;b;c\n1,5;2,345;1.234\n2,25;3,456;2.345\n"
    with pytest.warns(match="decimal commas in 'a' and 'b' and with thousands separators in 'c'"):
        frame = read_text(text.encode(), "t.csv", ";")
    np.testing.assert_allclose(frame.to_numpy(), [[1.5, 2.345, 1234], [2.25, 3.456, 2345]])


@pytest.mark.parametrize(
    "mark", ["?", " ?", "-", "--", "–", ".", "n.a.", "N/a", "Unknown", "#NUM!"]
)
@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1.5", "2"], "number", [1.5, 2]),
        (["1,5", "2,25"], "number", [1.5, 2.25]),
        (["1.234.567", "12"], "number", [1234567, 12]),
        (["True", "False"], "boolean", [1, 0]),
        (["1970-01-03", "1970-01-02"], "date", [2, 1]),
    ],
)
def test_marks_of_missing_values(mark: str, cells: list[str], kind: str, values: list) -> None:
    column, notes = parse(*cells, mark, cells[0])
    assert column.kind == kind
    np.testing.assert_allclose(column.values, [*values, nan, values[0]])
    assert f"{mark.strip()!r} was read as missing in 'c'." in notes[-1]


@pytest.mark.parametrize("mark", ["NA", "", "NaN"])
def test_the_usual_marks_need_no_note(mark: str) -> None:
    column, notes = parse("1", mark, "2")
    assert (column.kind, column.n_missing, notes) == ("number", 1, [])


def test_marks_in_categories() -> None:
    """A question mark is missing everywhere; other marks may be categories."""
    column, notes = parse("+", "-", "?", "-")
    assert (column.levels, column.n_missing) == (("+", "-"), 1)
    assert notes == ["'?' was read as missing in 'c'."]
    column, notes = parse("low", "unknown", "high")
    assert (column.levels, notes) == (("high", "low", "unknown"), [])
    only = parse("-", "-")[0]
    assert only.levels == ("-",)


def test_marks_after_many_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_SAMPLE_SIZE", 3)
    monkeypatch.setattr(parsing, "_ROWS_PER_CHUNK", 4)
    column, _ = parse(*map(str, range(20)), "?")
    np.testing.assert_allclose(column.values, [*range(20), nan])


def test_long_labels_with_marks_stay_words() -> None:
    column, _ = parse(str(2**53), str(2**53 + 1), "-")
    assert column.levels == ("-", str(2**53), str(2**53 + 1))


def test_marks_among_cells_of_other_types() -> None:
    """Excel and JSON lines have numbers as numbers and marks as text."""
    with pytest.warns(match="'n/a' and '-' were read as missing in 'lab'"):
        assert drop_marks("lab", [1.5, "n/a", 2, "-", ""]) == [1.5, None, 2, None, None]
    assert drop_marks("lab", [1.5, "high"]) == [1.5, "high"]
    assert drop_marks("lab", [1.5, None]) == [1.5, None]


def test_ambiguous_dates_are_pointed_out() -> None:
    column, notes = parse("01/02/1970", "02/03/1970")
    np.testing.assert_allclose(column.values, [1, 33])
    assert "month/day/year" in notes[0]


def test_words_after_many_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words beyond the sample and the first chunk give the same column as at the start."""
    monkeypatch.setattr(parsing, "_SAMPLE_SIZE", 3)
    monkeypatch.setattr(parsing, "_ROWS_PER_CHUNK", 4)
    cells = [f"{i:02}" for i in range(20)]
    assert parse_column("c", [*cells, "x"]).levels == (*cells, "x")
    missing = parse_column("c", [*cells, "NA"])
    assert missing.kind == "number"
    np.testing.assert_allclose(missing.values, [*range(20), nan])


def test_long_integers_stay_distinct() -> None:
    column = parse_column("c", [str(2**53), str(2**53 + 1)])
    assert column.levels == (str(2**53), str(2**53 + 1))
    assert parse_column("c", ["1e300", "1E300"]).kind == "number"


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=6)
plain_words = words.filter(lambda word: not word.isspace() and not _is_numeric_word(word))
number_words = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
)


def _is_numeric_word(word: str) -> bool:
    """Return whether a word is read as something else than text, here or by pandas."""
    column, _ = parse(word)
    return column.kind != "category" or any(character.isdigit() for character in word)


missing_words = st.sampled_from([*sorted(MISSING), "?"])
columns_of_cells = st.one_of(
    st.lists(number_words, min_size=4, max_size=4),
    st.lists(number_words | missing_words, min_size=4, max_size=4),
    st.lists(plain_words | missing_words, min_size=4, max_size=4),
    st.lists(st.sampled_from(["True", "False"]), min_size=4, max_size=4),
)


@pytest.mark.filterwarnings("ignore:.* read as missing")
@settings(max_examples=150, deadline=None)
@given(st.lists(columns_of_cells, min_size=2, max_size=4), st.sampled_from(",;\t"))
def test_same_values_as_pandas(columns: list[list[str]], separator: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator)
    writer.writerow([f"c{j}" for j in range(len(columns))])
    writer.writerows(zip(*columns, strict=True))
    text = stream.getvalue()
    frame: Any = pd.read_csv(io.StringIO(text), sep=separator, na_values=["?"])
    expected = columns_from_frame(frame)
    assert expected is not None
    for actual, wanted in zip(read_text(text.encode(), "t", separator), expected, strict=True):
        assert (actual.name, actual.kind) == (wanted.name, wanted.kind)
        assert actual.levels == wanted.levels
        np.testing.assert_allclose(actual.values, wanted.values, rtol=1e-12)
