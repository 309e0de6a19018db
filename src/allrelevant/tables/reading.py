"""Reading of table files, in the format that the suffix of the file name indicates.

To add a format, add an entry to :data:`READERS`. Heavy dependencies are imported when they are
used, because command-line help lists the formats.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .._text import join_names, one_line
from ..exceptions import InputError
from .limits import Limits, TableSizeError
from .source import COMPRESSIONS, DAMAGED, STDIN, check_exists, is_pipe, read_content

if TYPE_CHECKING:
    from ..terms.columns import Frame

# Errors that readers raise if the content of a file does not match its suffix.
_UNREADABLE = (ValueError, csv.Error, *DAMAGED)


@dataclass(frozen=True)
class TableFile:
    """Content of a table file, its name, the name of an Excel sheet, and limits on its size."""

    content: bytes
    name: str
    sheet: str | None
    limits: Limits


@dataclass(frozen=True)
class Reader:
    """File format: its suffixes (most common first) and the function that reads it.

    If the format is compressible, a file name may end with an additional compression suffix.
    """

    suffixes: tuple[str, ...]
    read: Callable[[TableFile], Frame]
    format: str = ""
    compressible: bool = False


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    sheet: str | None = None,
    limits: Limits | None = None,
) -> Frame:
    """Read a table from a file with distinct column names and at least one row.

    The suffix selects the format from :data:`READERS`. With a ``separator``, the file is read as
    text regardless of its suffix. Standard input (``-``) is read as text. ``sheet`` is the name of
    an Excel sheet, by default the first one. Tables that exceed the ``limits`` are refused.
    """
    name, limits = str(path), limits or Limits()
    check_exists(name)
    reader = _reader_for(name, separator)
    if sheet is not None and reader.suffixes != EXCEL:
        raise InputError(f"A sheet can be chosen only in an Excel file (got {name!r}).")
    try:
        frame = reader.read(TableFile(read_content(name, limits), name, sheet, limits))
        limits.check_shape(*frame.shape)
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {name!r}: it is not UTF-8 text. Save it with UTF-8 encoding."
        ) from error
    except TableSizeError as error:
        raise InputError(f"Cannot read {name!r}: {error}.") from error
    except InputError:
        raise
    except _UNREADABLE as error:
        form = f" as {reader.format}" if reader.format else ""
        check = "the file and its suffix" if form else "the file, its suffix and the separator"
        raise InputError(
            f"Cannot read {name!r}{form}: {one_line(error)}. Check {check}."
        ) from error
    if len(frame) == 0:
        raise InputError(f"{name!r} has column names but no rows. Add at least one row.")
    return frame


def _reader_for(name: str, separator: str | None) -> Reader:
    if separator or name == STDIN:
        return _text_reader(separator)
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join((suffixes[:-1] if compressed else suffixes)[-1:])
    for reader in READERS:
        if suffix in reader.suffixes and (reader.compressible or not compressed):
            return reader
    if not suffix and is_pipe(name):
        return _text_reader(separator)
    raise InputError(
        f"Cannot infer the table format of {name!r} from its suffix. Use {FORMATS} (text files may "
        f"be compressed: {COMPRESSED}), or specify the separator (--sep on the command line)."
    )


def _text_reader(
    separator: str | None = None, usual: str = ",", suffixes: tuple[str, ...] = ()
) -> Reader:
    """Return the reader of delimited text with a given separator, or the usual one of a format."""

    def read(file: TableFile) -> Frame:
        from .text import read_text

        return read_text(file.content, file.name, separator, usual=usual, limits=file.limits)

    return Reader(suffixes, read, compressible=True)


def _read_json_lines(file: TableFile) -> Frame:
    from .json_lines import read_json_lines

    return read_json_lines(file.content, file.limits)


def _read_excel(file: TableFile) -> Frame:
    from .excel import read_excel

    return read_excel(file.content, file.name, file.sheet, file.limits)


def _read_parquet(file: TableFile) -> Frame:
    from .parquet import read_parquet

    return read_parquet(file.content, file.name, file.limits)


EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")

READERS = (
    _text_reader(suffixes=(".csv",)),
    _text_reader(usual="\t", suffixes=(".tsv", ".tab")),
    Reader((".jsonl", ".ndjson"), _read_json_lines, "JSON lines", compressible=True),
    Reader(EXCEL, _read_excel, "Excel"),
    Reader((".parquet", ".pq"), _read_parquet, "Parquet"),
)

# For messages and help: ".csv, .tsv, .jsonl, .xlsx or .parquet" and ".csv.gz, .bz2, ...".
FORMATS = join_names([reader.suffixes[0] for reader in READERS], conjunction="or", quote=False)
COMPRESSED = READERS[0].suffixes[0] + ", ".join(COMPRESSIONS)
