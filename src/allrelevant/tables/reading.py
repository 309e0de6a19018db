"""Reading of table files, in the format that the suffix of the file name indicates.

To add a format, add an entry to :data:`READERS`. Heavy dependencies are imported when they are
used, because command-line help lists the formats.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import import_extra
from .._text import join_names, one_line
from ..exceptions import InputError

if TYPE_CHECKING:
    from ..terms.columns import Frame

STDIN = "-"


def _unzip(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise ValueError(f"the archive contains {len(names)} files instead of one")
        return archive.read(names[0])


def _decompress_zstd(data: bytes) -> bytes:
    # pyarrow, which reads Parquet, also reads zstd.
    arrow = import_extra("pyarrow", "parquet")
    with arrow.input_stream(arrow.BufferReader(data), compression="zstd") as stream:
        content: bytes = stream.read()
    return content


COMPRESSIONS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zip": _unzip,
    ".zst": _decompress_zstd,
}

# Errors that readers raise if the content of a file does not match its suffix.
_UNREADABLE = (
    *(ValueError, OSError, EOFError, csv.Error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)


@dataclass(frozen=True)
class Reader:
    """File format: its suffixes (most common first) and the function that reads it.

    The function takes the content and the name of the file, and the name of an Excel sheet. If the
    format is compressible, a file name may end with an additional compression suffix.
    """

    suffixes: tuple[str, ...]
    read: Callable[[bytes, str, str | None], Frame]
    format: str = ""
    compressible: bool = False


def read_table(
    path: str | Path, *, separator: str | None = None, sheet: str | None = None
) -> Frame:
    """Read a table from a file with distinct column names and at least one row.

    The suffix selects the format from :data:`READERS`. With a ``separator``, the file is read as
    text regardless of its suffix. Standard input (``-``) is read as text. ``sheet`` is the name of
    an Excel sheet, by default the first one.
    """
    name = str(path)
    reader = _reader_for(name, separator)
    if sheet is not None and reader.suffixes != EXCEL:
        raise InputError(f"A sheet can be chosen only in an Excel file (got {name!r}).")
    compression = COMPRESSIONS.get(Path(name).suffix.lower(), bytes)
    try:
        frame = reader.read(compression(_content(name)), name, sheet)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {name!r}: it is not UTF-8 text. Save it with UTF-8 encoding."
        ) from error
    except _UNREADABLE as error:
        form = f" as {reader.format}" if reader.format else ""
        check = "the file and its suffix" if form else "the file, its suffix and the separator"
        raise InputError(
            f"Cannot read {name!r}{form}: {one_line(error)}. Check {check}."
        ) from error
    if len(frame) == 0:
        raise InputError(f"{name!r} has column names but no rows. Add at least one row.")
    return frame


def _content(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()


def _reader_for(name: str, separator: str | None) -> Reader:
    path = Path(name)
    if name == STDIN:
        return _text_reader(separator)
    if path.is_dir():
        raise InputError(f"{name!r} is a folder. Pass the path of a table.")
    if not path.exists():
        raise InputError(f"File {name!r} does not exist. Check the path.")
    if separator:
        return _text_reader(separator)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join((suffixes[:-1] if compressed else suffixes)[-1:])
    for reader in READERS:
        if suffix in reader.suffixes and (reader.compressible or not compressed):
            return reader
    if not suffix and not path.is_file():  # a pipe
        return _text_reader(separator)
    raise InputError(
        f"Cannot infer the table format of {name!r} from its suffix. Use {FORMATS} (text files may "
        f"be compressed: {COMPRESSED}), or specify the separator (--sep on the command line)."
    )


def _text_reader(
    separator: str | None = None, usual: str = ",", suffixes: tuple[str, ...] = ()
) -> Reader:
    """Return the reader of delimited text with a given separator, or the usual one of a format."""

    def read(data: bytes, name: str, sheet: str | None) -> Frame:
        from .text import read_text

        return read_text(data, name, separator, usual=usual)

    return Reader(suffixes, read, compressible=True)


def _read_json_lines(data: bytes, name: str, sheet: str | None) -> Frame:
    from ..terms.columns import Frame, column_from_objects
    from .parsing import drop_marks, parse_column

    records = []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is not JSON ({error})") from error
        if not isinstance(record, dict):
            raise ValueError(f"line {number} is not an object with one value per column")
        records.append(record)
    if not records:
        raise ValueError("the file is empty")
    names = list(dict.fromkeys(key for record in records for key in record))
    cells = {name: [record.get(name) for record in records] for name in names}
    return Frame(
        tuple(
            parse_column(name, values)
            if all(value is None or isinstance(value, str) for value in values)
            else column_from_objects(name, drop_marks(name, values))
            for name, values in cells.items()
        )
    )


def _read_excel(data: bytes, name: str, sheet: str | None) -> Frame:
    from ..terms.columns import Frame, column_from_objects
    from .parsing import drop_marks, parse_column
    from .text import check_distinct_names

    calamine = import_extra("python_calamine", "excel")
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        if sheet is not None and sheet not in workbook.sheet_names:
            raise InputError(
                f"{name!r} has no sheet {sheet!r}. Its sheets are "
                f"{join_names(workbook.sheet_names)}."
            )
        chosen = workbook.sheet_names[0] if sheet is None else sheet
        rows = workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except calamine.CalamineError as error:
        raise ValueError(str(error)) from error
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError(f"the sheet {chosen!r} is empty")
    header, *body = rows
    names = [_header_cell(cell, j) for j, cell in enumerate(header)]
    check_distinct_names(name, names)
    return Frame(
        tuple(
            parse_column(column, cells)
            if all(isinstance(cell, str) for cell in cells)
            else column_from_objects(column, _blank_to_none(drop_marks(column, cells)))
            for column, cells in zip(names, map(list, zip(*body, strict=True)), strict=True)
        )
        if body
        else ()
    )


def _blank_to_none(cells: list[Any]) -> list[Any]:
    return [None if cell == "" else cell for cell in cells]


def _header_cell(cell: Any, position: int) -> str:
    """Return a column name; numbers are stored as floats in Excel files."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell) if str(cell).strip() else f"Unnamed: {position}"


def _read_parquet(data: bytes, name: str, sheet: str | None) -> Frame:
    from ..terms.columns import Frame, columns_from_frame
    from .text import check_distinct_names

    parquet = import_extra("pyarrow.parquet", "parquet")
    arrow = import_extra("pyarrow", "parquet")
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        check_distinct_names(name, file.schema_arrow.names)
        table = file.read()
    except arrow.ArrowException as error:
        raise ValueError(str(error)) from error
    # pandas stores the index of a data frame as columns.
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    table = table.drop_columns([c for c in index if isinstance(c, str) and c in table.schema.names])
    return Frame(tuple(columns_from_frame(table) or ()))


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
