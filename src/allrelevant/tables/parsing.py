"""Conversion of text cells to typed columns: numbers, booleans, dates or words.

Numbers are converted while the rows are read. Other columns are stored as distinct words and the
index of the word in each row, and their type is inferred from the words.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._text import join_names
from .._typing import Vector
from ..exceptions import warn_caller
from ..terms.columns import Column, days_since_1970, number_column

# Cells that count as missing without a note, as in pandas.
MISSING = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)

# Further marks of missing values, in lower case. They count as missing only in columns whose other
# cells are numbers, booleans or dates: "-" may also be a category.
MARKS = frozenset(
    {
        *("-", "--", "---", "–", "—", ".", "..", "...", "*", "??", "???", "na", "n.a.", "n.a"),
        *("n/a", "nan", "none", "null", "nil", "missing", "unknown", "not available"),
        *("#n/a", "#null!", "#value!", "#div/0!", "#num!", "#ref!"),
    }
)

BOOLEANS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}

# Number of rows that determine which columns are read as numbers at first.
_SAMPLE_SIZE = 1000

_ROWS_PER_CHUNK = 5000

Row = Sequence[str]


@dataclass
class Words:
    """Distinct words of a column, in order of appearance, and the index of the word in each row."""

    index: dict[str, int] = field(default_factory=dict)
    codes: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, cells: Sequence[str]) -> None:
        """Append the cells of further rows."""
        find = self.index.setdefault
        codes = (find(cell, len(self.index)) for cell in cells)
        self.codes.append(np.fromiter(codes, np.int64, len(cells)))

    @property
    def present(self) -> list[str]:
        """Distinct words that do not count as missing."""
        return [word for word in self.index if not is_missing(word)]

    @property
    def unmarked(self) -> list[str]:
        """Distinct words that do not count as missing in a column of numbers."""
        return [word for word in self.index if not is_mark(word)]

    def numbers(self, value_of: Mapping[str, float]) -> Vector:
        """Return the value of each row; words without a value are missing."""
        values = np.array([value_of.get(word, np.nan) for word in self.index], dtype=np.float64)
        return values[np.concatenate(self.codes)]

    def categories(self, name: str) -> Column:
        """Return a column of categories."""
        levels = sorted(self.present)
        code_of = {level: code for code, level in enumerate(levels)}
        codes = np.array([code_of.get(word, -1) for word in self.index], dtype=np.int64)
        return Column(name, "category", codes[np.concatenate(self.codes)], tuple(levels))


def is_missing(cell: str) -> bool:
    """Return whether a cell is missing in any column: blank, a marker of pandas or "?"."""
    return _is_blank(cell) or cell.strip() == "?"


def _is_blank(cell: str) -> bool:
    return cell in MISSING or cell.isspace()


def is_mark(cell: str) -> bool:
    """Return whether a cell marks a missing value in a column of numbers, booleans or dates."""
    return is_missing(cell) or cell.strip().lower() in MARKS


def drop_marks(name: str, cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a column of numbers or dates, with None for marks of missing values.

    Other columns are returned unchanged.
    """
    words = [cell for cell in cells if isinstance(cell, str)]
    marks = [word for word in words if is_mark(word)]
    if not marks or len(marks) < len(words):
        return list(cells)
    _warn_all(_Notes(marks={word.strip(): [name] for word in marks if word.strip()}))
    return [None if isinstance(cell, str) else cell for cell in cells]


class TextRows(Protocol):
    """Rows of a text table, which can be read several times."""

    def __iter__(self) -> Iterator[Row]:
        """Return an iterator over rows with one cell per column."""

    def load(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return all rows as a structured array; raise ``ValueError`` if that is impossible."""


def parse_columns(
    names: Sequence[str], rows: TextRows, *, decimal_comma: bool = False
) -> tuple[list[Column], list[str]]:
    """Return typed columns, and notes on the format of numbers and dates.

    ``decimal_comma`` tells whether numbers such as "1,234" have a decimal comma rather than a
    thousands separator if no other number shows which of them the table uses.
    """
    try:
        numbers, words = _load_columns(rows, len(names))
    except ValueError:
        numbers, words = _read_columns(rows, len(names))
    style = _choose_style(words.values(), numbers.values(), decimal_comma)
    if style.decimal == ",":
        # In these tables, "1.234" may be a thousands separator.
        fractional = {j for j, values in numbers.items() if _has_fractions(values)}
        dotted = _collect_words(rows, fractional)
        words |= {j: w for j, w in dotted.items() if all(map(_DOT_GROUPS.fullmatch, w.present))}
    labels = _long_labels(rows, numbers)
    notes = _Notes()
    columns = [
        labels[j].categories(name)
        if j in labels
        else _infer_column(name, words[j], style, notes)
        if j in words
        else number_column(name, numbers.get(j, np.empty(0)))
        for j, name in enumerate(names)
    ]
    return columns, notes.lines()


def _long_labels(rows: TextRows, numbers: Mapping[int, Vector]) -> dict[int, Words]:
    """Return the words of columns of integers with too many digits to be distinct as floats."""
    large = {j for j, values in numbers.items() if (np.abs(values) >= 2.0**53).any()}
    return {
        j: words
        for j, words in _collect_words(rows, large).items()
        if _are_long_labels(words.present)
    }


def _are_long_labels(words: Sequence[str]) -> bool:
    """Return whether words are integers with too many digits to be distinct as floats."""
    if not all(word.strip().lstrip("+-").isdecimal() for word in words):
        return False
    return len(set(map(float, words))) < len(words)


def _load_columns(rows: TextRows, width: int) -> tuple[dict[int, Vector], dict[int, Words]]:
    """Read numbers and words at once, with the types of the first rows."""
    sample = list(islice(rows, _SAMPLE_SIZE))
    is_number = [_parse_floats(cells) is not None for cells in zip(*sample, strict=True)]
    if len(is_number) < width:  # no rows
        return {}, {}
    fields = [(f"{j}", np.float64 if plain else object) for j, plain in enumerate(is_number)]
    table = rows.load(np.dtype(fields))
    numbers, words = {}, {}
    for j in range(width):
        if is_number[j]:
            numbers[j] = np.ascontiguousarray(table[f"{j}"])
        else:
            words[j] = Words()
            words[j].add(table[f"{j}"].tolist())
    return numbers, words


def _read_columns(rows: TextRows, width: int) -> tuple[dict[int, Vector], dict[int, Words]]:
    """Read numbers and words in chunks; slower, but missing numbers are accepted everywhere."""
    numbers: dict[int, list[Vector]] = {j: [] for j in range(width)}
    words: dict[int, Words] = {}
    late: set[int] = set()  # columns with words after the first chunk
    for is_first, chunk in _chunks(rows):
        for j, cells in enumerate(zip(*chunk, strict=True)):
            if j in words:
                words[j].add(cells)
            elif j in numbers:
                values = _parse_floats(cells)
                if values is not None:
                    numbers[j].append(values)
                    continue
                del numbers[j]
                if is_first:
                    words[j] = Words()
                    words[j].add(cells)
                else:
                    late.add(j)
    words |= _collect_words(rows, late)
    return {j: np.concatenate(parts) for j, parts in numbers.items()}, words


@dataclass(frozen=True)
class _Cells:
    """Rows of a table with a single column."""

    cells: Sequence[str]

    def __iter__(self) -> Iterator[Row]:
        return ((cell,) for cell in self.cells)

    def load(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        return np.array(list(self), dtype=dtype)


def parse_column(name: str, cells: Iterable[str | None]) -> Column:
    """Return a typed column from text cells; None is missing."""
    rows = _Cells(["" if cell is None else cell for cell in cells])
    ((column,), notes) = parse_columns([name], rows)
    for note in notes:
        warn_caller(note)
    return column


def _chunks(rows: Iterable[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Return the rows in chunks, each with a flag that is True for the first chunk."""
    iterator, is_first = iter(rows), True
    while chunk := list(islice(iterator, _ROWS_PER_CHUNK)):
        yield is_first, chunk
        is_first = False


def _collect_words(rows: TextRows, columns: set[int]) -> dict[int, Words]:
    """Read the rows again and return the words of some columns."""
    words = {j: Words() for j in sorted(columns)}
    if columns:
        for _, chunk in _chunks(rows):
            for j, collected in words.items():
                collected.add([row[j] for row in chunk])
    return words


def _parse_floats(cells: Sequence[str]) -> Vector | None:
    """Return cells as numbers, or None if some are neither numbers nor missing."""
    try:
        values = list(map(float, cells))
    except ValueError:
        try:
            values = [float("nan") if _is_blank(cell) else float(cell) for cell in cells]
        except ValueError:
            return None
    if any("_" in cell for cell in cells):  # a separator of digits for Python, not in tables
        return None
    return np.array(values, dtype=np.float64)


def _has_fractions(values: Vector) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite != np.round(finite)).any())


def _infer_column(name: str, words: Words, style: _Style, notes: _Notes) -> Column:
    """Return the column of the first type that suits all words."""
    column = _infer_values(name, words, style, notes)
    if column is None:
        column = words.categories(name)
    missing = is_missing if column.has_levels else is_mark
    for word in words.index:
        if missing(word) and not _is_blank(word):
            notes.marks.setdefault(word.strip(), []).append(name)
    return column


def _infer_values(name: str, words: Words, style: _Style, notes: _Notes) -> Column | None:
    """Return a column of booleans, numbers or dates, or None if some word is none of them."""
    present = words.unmarked
    if not words.present:
        return Column(name, "number", words.numbers({}))
    if present and all(word in BOOLEANS for word in present):
        return Column(name, "boolean", words.numbers(BOOLEANS))
    numbers = style.parse(present)
    if numbers is not None and not _are_long_labels(present):
        if any(_PLAIN.fullmatch(word) is None or float(word) != numbers[word] for word in present):
            notes.add_number(name, style, present)
        return Column(name, "number", words.numbers(numbers))
    dates, month_first = _parse_dates(present)
    if dates is not None:
        if month_first:
            notes.month_first.append(name)
        return Column(name, "date", words.numbers(dates))
    return None


# Numbers with decimal commas and thousands separators.

_GROUPS = r"\d{{1,3}}(?:([{separators}])\d{{3}})(?:\{group}\d{{3}})*"
_NUMBER = r"\s*[+-]?(?:\d+|{groups}|(?={decimal}\d))(?:{decimal}\d*)?(?:[eE][+-]?\d+)?\s*"
_SPACES = " \u00a0\u202f'’"
_PATTERNS = {
    decimal: re.compile(
        _NUMBER.format(
            groups=_GROUPS.format(separators=other + _SPACES, group=1), decimal=re.escape(decimal)
        )
    )
    for decimal, other in ((",", "."), (".", ","))
}
_PLAIN = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_DOT_GROUPS = re.compile(r"\s*[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)\s*")


@dataclass(frozen=True)
class _Style:
    """Decimal separator of the numbers that are not written with plain digits and a point."""

    decimal: str

    def parse(self, words: Sequence[str]) -> dict[str, float] | None:
        """Return the value of each word, or None if some word is not a number in any style."""
        for decimal in (self.decimal, "," if self.decimal == "." else "."):
            if words and all(map(_PATTERNS[decimal].fullmatch, words)):
                return {word: _to_float(word, decimal) for word in words}
        return None


def _to_float(word: str, decimal: str) -> float:
    drop = dict.fromkeys(map(ord, _SPACES + ("." if decimal == "," else ",")))
    return float(word.translate(drop).replace(",", "."))


def _choose_style(words: Iterable[Words], plain: Iterable[Vector], decimal_comma: bool) -> _Style:
    """Return the style that the unambiguous numbers of a table use."""
    votes = dict.fromkeys(_PATTERNS, 0)
    for column in words:
        present = column.unmarked
        fits = [d for d, pattern in _PATTERNS.items() if all(map(pattern.fullmatch, present))]
        if present and len(fits) == 1:
            votes[fits[0]] += 1
    if votes[","] != votes["."]:
        return _Style(max(votes, key=lambda decimal: votes[decimal]))
    if any(map(_has_fractions, plain)):
        return _Style(".")
    return _Style("," if decimal_comma else ".")


# Dates.

_TIME = r"(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"\s*(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME + r"\s*")
_YEAR_LAST = re.compile(r"\s*(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME + r"\s*")


def _parse_dates(words: Sequence[str]) -> tuple[dict[str, float] | None, bool]:
    """Return the days since 1970 of each word, or None if some word is not a date.

    Also returns whether the month was assumed to come first, because the words do not tell.
    """
    if not words:
        return None, False
    if all(map(_YEAR_FIRST.fullmatch, words)):
        return _dates(words, _YEAR_FIRST, (0, 2, 3)), False
    if not all(map(_YEAR_LAST.fullmatch, words)):
        return None, False
    day_first = _dates(words, _YEAR_LAST, (3, 2, 0))
    month_first = _dates(words, _YEAR_LAST, (3, 0, 2))
    if day_first is not None and (month_first is None or "." in words[0].split(":")[0]):
        return day_first, False
    return month_first, day_first is not None and day_first != month_first


def _dates(
    words: Sequence[str], pattern: re.Pattern[str], order: tuple[int, int, int]
) -> dict[str, float] | None:
    """Return the days since 1970; ``order`` gives the groups of year, month and day."""
    days = {}
    for word in words:
        match = pattern.fullmatch(word)
        assert match is not None
        groups = match.groups()
        year, month, day = (int(groups[place]) for place in order)
        try:
            time = datetime.time.fromisoformat((groups[4] or "00:00").zfill(5))
            zone = datetime.datetime.strptime(groups[5], "%z").tzinfo if groups[5] else None
            date = datetime.datetime(year, month, day, tzinfo=zone)
        except ValueError:
            return None
        days[word] = days_since_1970(datetime.datetime.combine(date, time, tzinfo=zone))
    return days


@dataclass
class _Notes:
    """Names of the columns whose format was inferred, by the property to report."""

    decimal_comma: list[str] = field(default_factory=list)
    thousands: list[str] = field(default_factory=list)
    month_first: list[str] = field(default_factory=list)
    marks: dict[str, list[str]] = field(default_factory=dict)  # mark: columns

    def add_number(self, name: str, style: _Style, words: Sequence[str]) -> None:
        """Record how the words of a column of numbers were read."""
        is_comma = all(map(_PATTERNS[","].fullmatch, words)) and any("," in word for word in words)
        if is_comma and (style.decimal == "," or not all(map(_PATTERNS["."].fullmatch, words))):
            self.decimal_comma.append(name)
        else:
            self.thousands.append(name)

    def lines(self) -> list[str]:
        """Return one line on numbers and one on dates, each only if there is something to say."""
        parts = []
        if self.decimal_comma:
            parts.append(f"decimal commas in {join_names(self.decimal_comma, 5)}")
        if self.thousands:
            parts.append(f"thousands separators in {join_names(self.thousands, 5)}")
        lines = [f"Numbers were read with {' and with '.join(parts)}."] if parts else []
        if self.month_first:
            lines.append(
                f"Dates in {join_names(self.month_first, 5)} were read as month/day/year, because "
                "they do not show which comes first."
            )
        if self.marks:
            columns = list(dict.fromkeys(name for names in self.marks.values() for name in names))
            lines.append(
                f"{join_names(list(self.marks), 5)} {'was' if len(self.marks) == 1 else 'were'} "
                f"read as missing in {join_names(columns, 5)}."
            )
        return lines


def _warn_all(notes: _Notes) -> None:
    for line in notes.lines():
        warn_caller(line)
