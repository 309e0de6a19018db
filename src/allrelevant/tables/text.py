"""Reading of delimited text: encoding, separator, quotes and the header line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._text import join_names
from ..exceptions import InputError, warn_caller
from ..terms.columns import Frame
from .limits import Limits
from .parsing import parse_columns

SEPARATORS = (",", ";", "\t", "|")

# Any number of spaces and tabs separates two cells.
WHITESPACE = r"\s+"
_WORD = re.compile(r"\S+")

_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_SNIFFED_ROWS = 50


def read_text(
    data: bytes,
    name: str,
    separator: str | None,
    *,
    usual: str = ",",
    limits: Limits | None = None,
) -> Frame:
    """Read a table from delimited text with column names in the first line.

    Without a ``separator``, it is inferred from the first rows; ``usual`` is the one of the file
    format. ``name`` is used in messages. Raises ``ValueError`` or ``csv.Error`` if the text is not
    a table.
    """
    text = _Text(data, _encoding(data), limits or Limits())
    chosen = _resolve_separator(separator) if separator else _infer_separator(text, usual)
    header = next((row for _, row in text.cells(chosen)), None)
    if header is None:
        raise ValueError("the file is empty")
    check_distinct_names(name, [cell for cell in header if cell.strip()])
    names = [cell if cell.strip() else f"Unnamed: {j}" for j, cell in enumerate(header)]
    rows = _DataRows(text, chosen, len(names), name)
    columns, notes = parse_columns(names, rows, decimal_comma=chosen == ";")
    if not separator and chosen != usual:
        notes = [f"The columns of {name!r} are separated by {_NAMES[chosen]}.", *notes]
    if notes:
        warn_caller(" ".join(notes))
    return Frame(tuple(columns))


def check_distinct_names(name: str, columns: Iterable[str]) -> None:
    """Raise if several columns of the table ``name`` have the same name."""
    duplicates = [column for column, count in Counter(columns).items() if count > 1]
    if duplicates:
        raise InputError(
            f"{name!r} has several columns with the same name: {join_names(duplicates)}. "
            "Rename them. If a text file has no header line, add one."
        )


_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def _encoding(data: bytes) -> str:
    return next((name for mark, name in _ENCODINGS.items() if data.startswith(mark)), "utf-8")


@dataclass(frozen=True)
class _Text:
    """Encoded text, kept in memory so that standard input can be read several times."""

    data: bytes
    encoding: str
    limits: Limits

    def lines(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BytesIO(self.data), encoding=self.encoding, newline="")

    def cells(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """Return the number and the cells of each line that is not blank, including the header."""
        if separator == WHITESPACE:
            for number, line in enumerate(self._checked_lines(None), 1):
                if line.strip():
                    yield number, line.split()
            return
        reader = csv.reader(self._checked_lines(separator), delimiter=separator, strict=True)
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield reader.line_num, row

    def _checked_lines(self, separator: str | None) -> Iterator[str]:
        """Return the lines, and raise before a line with too many cells is split."""
        most = self.limits.columns
        for line in self.lines():
            if len(line) > most and _count_cells(line, separator) > most:
                self.limits.check_shape(0, _count_cells(line, separator))
            yield line


def _count_cells(line: str, separator: str | None) -> int:
    if separator is None:
        return sum(1 for _ in _WORD.finditer(line))
    return line.count(separator) + 1


@dataclass(frozen=True)
class _DataRows:
    """Rows of a text table below the header, padded to the number of column names."""

    text: _Text
    separator: str
    width: int
    name: str

    def __iter__(self) -> Iterator[list[str]]:
        for position, (line, row) in enumerate(self.text.cells(self.separator)):
            if position == 0:
                continue
            self.text.limits.check_shape(position, self.width)
            if len(row) < self.width:
                row = row + [""] * (self.width - len(row))
            elif len(row) > self.width:
                self._refuse(row, line, is_first=position == 1)
            yield row

    def _refuse(self, row: Sequence[str], line: int, *, is_first: bool) -> NoReturn:
        if is_first:
            raise InputError(
                f"The rows of {self.name!r} have more cells than the first line has column names. "
                "Add the missing names, or remove separators from the ends of the other lines."
            )
        raise ValueError(
            f"line {line} has {len(row)} cells, but the first line has {self.width} column names"
        )

    def _count_lines(self) -> int:
        """Return the number of lines that are not empty, the last of a table at the latest."""
        data = self.text.data
        return data.count(b"\n") - data.count(b"\n\n") if b"\n" in data else data.count(b"\r")

    def load(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Read all rows with the parser of NumPy."""
        if self.separator == WHITESPACE or self.text.data.count(b'"') % 2:
            raise ValueError("text that the parser of NumPy would read differently")
        self.text.limits.check_shape(self._count_lines(), self.width)
        lines = self.text.lines()
        header = csv.reader(lines, delimiter=self.separator, strict=True)
        while not any(cell.strip() for cell in next(header)):
            pass
        return np.loadtxt(
            lines, dtype, delimiter=self.separator, comments=None, quotechar='"', ndmin=1
        )


def _resolve_separator(separator: str) -> str:
    known = {"\\t": "\t", " ": " ", WHITESPACE: WHITESPACE}
    chosen = known.get(separator, separator)
    if len(chosen) == 1 or chosen == WHITESPACE:
        return chosen
    raise InputError(
        f"The separator {separator!r} is not a single character. Use a character such as ';', or "
        f"'{WHITESPACE}' for any number of spaces."
    )


def _infer_separator(text: _Text, usual: str) -> str:
    """Return the usual separator if it splits the header, otherwise the one that does."""
    n_columns = {separator: _n_columns(text, separator) for separator in (usual, *SEPARATORS)}
    if n_columns[usual] > 1:
        return usual
    best = max(n_columns, key=lambda separator: n_columns[separator])
    return best if n_columns[best] > 1 else usual


def _n_columns(text: _Text, separator: str) -> int:
    """Return the number of columns, or 0 if the first rows have different numbers of cells."""
    try:
        sizes = {len(row) for _, row in islice(text.cells(separator), _SNIFFED_ROWS)}
    except csv.Error:
        return 0
    return sizes.pop() if len(sizes) == 1 else 0
