"""Size of the cells of a spreadsheet, checked before the library reads them.

The library allocates the whole rectangle up to the last cell of a sheet. A cell can also refer to a
shared text (Excel) or be repeated (OpenDocument), so a small file can have a large content.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

import numpy as np

from .limits import Limits

_CHUNK = 1 << 20

# Position of a cell or number of a row.
_REFERENCE = re.compile(
    rb"""<(?:\w+:)?(?:c|row)\s(?:[^>]*?\s)?r\s*=\s*["']([A-Z]{0,3})(\d{1,7})["']"""
)
# Cell with the number of a shared text; beginning of a shared text.
_SHARED_CELL = re.compile(rb"""\st\s*=\s*["']s["'][^>]*>\s*<(?:\w+:)?v[^>]*>\s*(\d+)""")
_SHARED_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
_MAX_MARKUP = 4096

# Bytes of a cell besides its text.
_CELL = 8


def check_archive(data: bytes, limits: Limits) -> None:
    """Raise if the decompressed content or the cells of a spreadsheet are too large."""
    n_bytes = 0
    lengths = np.zeros(0, dtype=np.int64)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        # Shared texts come first, because cells refer to them.
        for entry in sorted(entries, key=lambda entry: "sharedStrings" not in entry.filename):
            with archive.open(entry) as file:
                chunks = _chunks(file, n_bytes, limits)
                if "sharedStrings" in entry.filename:
                    lengths = _shared_lengths(b"".join(chunks))
                elif entry.filename.endswith("content.xml"):
                    _check_repeated(chunks, limits)
                else:
                    _check_sheet(chunks, lengths, limits)
            n_bytes += entry.file_size


def _chunks(file: Any, n_bytes: int, limits: Limits) -> Iterator[bytes]:
    """Yield the content of an entry, after ``n_bytes`` of other entries."""
    while chunk := file.read(_CHUNK):
        n_bytes += len(chunk)
        limits.check_bytes(n_bytes)
        yield chunk


def _shared_lengths(content: bytes) -> Any:
    """Return the number of bytes of each shared text, including its markup."""
    starts = [match.start() for match in _SHARED_TEXT.finditer(content)]
    return np.diff([*starts, len(content)])


def _check_sheet(chunks: Iterator[bytes], lengths: Any, limits: Limits) -> None:
    """Raise if the rectangle of cells of an Excel sheet, or their texts, are too large."""
    last_row = last_column = n_bytes = 0
    tail = b""
    for chunk in chunks:
        markup = tail + chunk
        row, column = _extent(markup)
        last_row, last_column = max(last_row, row), max(last_column, column)
        limits.check_shape(last_row, last_column)
        numbers = np.array(_SHARED_CELL.findall(markup), dtype=np.int64)
        n_bytes += int(lengths[numbers[numbers < len(lengths)]].sum())
        limits.check_bytes(n_bytes)
        tail = markup[-_MAX_MARKUP:]


def _extent(markup: bytes) -> tuple[int, int]:
    """Return the number of the last row and of the last column in a part of a sheet."""
    row = column = 0
    for letters, digits in _REFERENCE.findall(markup):
        row = max(row, int(digits))
        column = max(column, _column_number(letters))
    return row, column


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _check_repeated(chunks: Iterator[bytes], limits: Limits) -> None:
    """Raise if the cells of an OpenDocument spreadsheet are too large, with all repetitions."""
    cells = _RepeatedCells(limits)
    parser = expat.ParserCreate()
    parser.StartElementHandler = cells.start
    parser.EndElementHandler = cells.end
    parser.CharacterDataHandler = cells.add_text
    try:
        for chunk in chunks:
            parser.Parse(chunk)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError(f"its content is not XML ({error})") from error


class _RepeatedCells:
    """Number of bytes of the cells of an OpenDocument spreadsheet; empty cells have none."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._n_bytes = self._row = self._text = 0
        self._row_times = self._cell_times = 1
        self._is_empty = True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table-row":
            self._row, self._row_times = 0, _repeated(attributes, "table:number-rows-repeated")
        elif name == "table:table-cell":
            self._cell_times = _repeated(attributes, "table:number-columns-repeated")
            self._text, self._is_empty = (
                sum(map(len, attributes.values())),
                not any(key.startswith("office:") for key in attributes),
            )

    def add_text(self, text: str) -> None:
        self._text += len(text)
        self._is_empty = False

    def end(self, name: str) -> None:
        if name == "table:table-cell" and not self._is_empty:
            self._row += self._cell_times * (self._text + _CELL)
        elif name == "table:table-row":
            self._n_bytes += self._row_times * self._row
            self._limits.check_bytes(self._n_bytes)


def _repeated(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    if not text.isdecimal():
        raise ValueError(f"{name} is not a number")
    return int(text)
