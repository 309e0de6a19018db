"""Limits on the size of a table, checked while a file is read, before memory runs out.

A small file can expand to a large table: compressed text, an Excel sheet with one distant cell, or
a Parquet file that repeats a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._params import MAX_COLUMNS, MAX_GIGABYTES, MAX_ROWS
from .._text import number
from ..exceptions import InputError

# Bytes of a number in memory.
_BYTES_PER_CELL = 8


@dataclass(frozen=True)
class Limits:
    """Largest number of rows, of columns and of gigabytes of a table.

    The gigabytes limit the content of the file, after decompression, and the table in memory.
    """

    rows: int = MAX_ROWS
    columns: int = MAX_COLUMNS
    gigabytes: float = MAX_GIGABYTES

    @property
    def n_bytes(self) -> int:
        """Largest number of bytes."""
        return int(self.gigabytes * 1e9)

    def check_shape(self, n_rows: int, n_columns: int) -> None:
        """Raise if a table of the given size exceeds a limit."""
        if n_columns > self.columns:
            raise _too_large(f"{self.columns:,} columns", "--max-columns")
        if n_rows > self.rows:
            raise _too_large(f"{self.rows:,} rows", "--max-rows")
        self.check_bytes(n_rows * n_columns * _BYTES_PER_CELL)

    def check_bytes(self, n_bytes: int) -> None:
        """Raise if this number of bytes exceeds the limit."""
        if n_bytes > self.n_bytes:
            raise _too_large(f"{number(self.gigabytes)} GB", "--max-gb")

    def join(self, chunks: Iterable[bytes]) -> bytes:
        """Return the chunks as a single block of bytes; raise as soon as they are too large."""
        content = bytearray()
        for chunk in chunks:
            self.check_bytes(len(content) + len(chunk))
            content += chunk
        return bytes(content)


class TableSizeError(InputError):
    """Raised when a table exceeds a limit; the message does not name the file."""


def _too_large(limit: str, option: str) -> TableSizeError:
    return TableSizeError(
        f"the table exceeds the limit of {limit}. If its size is correct and there is enough "
        f"memory, increase the limit ({option} on the command line)"
    )
