"""Reading of table files, in the format that the suffix of the file name indicates.

To add a format, add an entry to :data:`READERS`.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import import_extra
from .._text import join_names
from ..exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}

# Errors that readers raise if the content of a file does not match its suffix.
_UNREADABLE = (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Reader:
    """File format: its suffixes (most common first) and the function that reads it.

    If the format is compressible, a file name may end with an additional compression suffix.
    """

    suffixes: tuple[str, ...]
    read: Callable[[Path], pd.DataFrame]
    compressible: bool = False


def read_table(path: str | Path, *, separator: str | None = None) -> pd.DataFrame:
    """Read a table from a file with distinct column names and at least one row.

    The suffix selects the format from :data:`READERS`. With a ``separator``, the file is read as
    text regardless of its suffix. Column names are returned as strings.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{_quoted(path)} is a folder. Pass the path of a table.")
    if not path.exists():
        raise InputError(f"File {_quoted(path)} does not exist. Check the path.")
    frame = _read_text(path, separator) if separator else _reader_for(path).read(path)
    if len(frame) == 0:
        raise InputError(f"{_quoted(path)} has column names but no rows. Add at least one row.")
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _reader_for(path: Path) -> Reader:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join((suffixes[:-1] if compressed else suffixes)[-1:])
    for reader in READERS:
        if suffix in reader.suffixes and (reader.compressible or not compressed):
            return reader
    raise InputError(
        f"Cannot infer the table format of {_quoted(path)} from its suffix. Use {FORMATS} (text "
        f"files may be compressed: {COMPRESSED}), or specify the separator (--sep on the command "
        "line)."
    )


def _quoted(path: Path) -> str:
    return repr(str(path))


def _read_text(path: Path, separator: str) -> pd.DataFrame:
    pandas = import_extra("pandas", "cli")
    compression = COMPRESSIONS.get(path.suffix.lower())

    def read(**options: Any) -> pd.DataFrame:
        # For zstd, pandas requires an additional package; pyarrow is already a dependency.
        if compression == "zstd":
            arrow = import_extra("pyarrow", "cli")
            with arrow.input_stream(str(path), compression="zstd") as stream:
                return pandas.read_csv(stream, sep=separator, **options)
        return pandas.read_csv(path, sep=separator, compression=compression, **options)

    try:
        # pandas silently renames a second "a" to "a.1", so check the raw names.
        header = read(header=None, nrows=1, dtype=str, keep_default_na=False)
        _check_distinct_names(path, [name for name in header.iloc[0] if name])
        frame = read(low_memory=False)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {_quoted(path)}: it is not UTF-8 text. Save it with UTF-8 encoding."
        ) from error
    except _UNREADABLE as error:
        raise InputError(
            f"Cannot read {_quoted(path)}: {_reason(error)}. Check the file, its suffix and the "
            "separator."
        ) from error
    # pandas interprets surplus cells at the start of each row as an index.
    if not isinstance(frame.index, pandas.RangeIndex):
        raise InputError(
            f"The rows of {_quoted(path)} have more cells than the first line has column names. "
            "Add the missing names, or remove separators from the ends of the other lines."
        )
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    parquet = import_extra("pyarrow.parquet", "cli")
    pandas = import_extra("pandas", "cli")
    arrow_error = import_extra("pyarrow", "cli").ArrowException
    try:
        _check_distinct_names(path, parquet.read_schema(path).names)
        return pandas.read_parquet(path, engine="pyarrow")
    except InputError:
        raise
    except (*_UNREADABLE, arrow_error) as error:
        raise InputError(
            f"Cannot read {_quoted(path)} as Parquet: {_reason(error)}. Check the file and its "
            "suffix."
        ) from error


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _check_distinct_names(path: Path, names: Iterable[str]) -> None:
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise InputError(
            f"{_quoted(path)} has several columns with the same name: {join_names(duplicates)}. "
            "Rename them. If a text file has no header line, add one."
        )


READERS = (
    Reader((".csv",), partial(_read_text, separator=","), compressible=True),
    Reader((".tsv", ".tab"), partial(_read_text, separator="\t"), compressible=True),
    Reader((".parquet", ".pq"), _read_parquet),
)

# For messages and help: ".csv, .tsv or .parquet" and ".csv.gz, .bz2, ...".
FORMATS = join_names([reader.suffixes[0] for reader in READERS], conjunction="or", quote=False)
COMPRESSED = READERS[0].suffixes[0] + ", ".join(COMPRESSIONS)
