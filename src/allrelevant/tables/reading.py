"""Tables from files."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import import_extra
from .._text import join_names
from ..exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


_PARQUET = (".parquet", ".pq")


_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}


# What readers raise on a file that is not what its name says.
_UNREADABLE = (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def read_table(path: str | Path, *, separator: str | None = None) -> pd.DataFrame:
    """Read a table whose first line, or schema, names its columns.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .tab, .parquet or .pq file; text may be compressed (.gz, .bz2, .xz, .zip or
        .zst after it).
    separator : str, default=None
        What separates the cells of a text file; by default a comma, or a tab in .tsv and .tab.
        With it, a text file may have any ending.

    Returns
    -------
    pandas.DataFrame
        With column names that are all strings, and all different.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("age,sick\\n41,yes\\n36,no\\n")
    ...     read_table(path).columns.tolist()
    ['age', 'sick']
    """
    path = Path(path)
    _require_file(path)
    endings = [ending.lower() for ending in path.suffixes]
    compression = _COMPRESSIONS.get(endings[-1]) if endings else None
    ending = (endings[:-1] if compression else endings)[-1:]
    if not compression and ending and ending[0] in _PARQUET and separator is None:
        frame = _read_parquet(path)
    else:
        separator = separator or _SEPARATORS.get(ending[0] if ending else "")
        if separator is None:
            raise InputError(_unknown_ending(path))
        frame = _read_text(path, separator, compression)
    if len(frame) == 0:
        raise InputError(f"{_quoted(path)} has column names but no rows.")
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{_quoted(path)} is a folder, not a table.")
    if not path.exists():
        raise InputError(f"There is no file {_quoted(path)}.")


def _unknown_ending(path: Path) -> str:
    return (
        f"Cannot tell what kind of table {_quoted(path)} is from its name: use .csv, .tsv or "
        ".parquet (text also compressed: .csv.gz, .bz2, .xz, .zip, .zst), or give the separator "
        "of a text file (--sep on the command line)."
    )


def _quoted(path: Path) -> str:
    return repr(str(path))


def _read_parquet(path: Path) -> pd.DataFrame:
    parquet = import_extra("pyarrow.parquet", "cli")
    pandas = import_extra("pandas", "cli")
    arrow_error = import_extra("pyarrow", "cli").ArrowException
    try:
        _require_distinct(path, parquet.read_schema(path).names)
        return pandas.read_parquet(path, engine="pyarrow")
    except InputError:
        raise
    except (*_UNREADABLE, arrow_error) as error:
        raise InputError(f"Cannot read {_quoted(path)} as Parquet: {_reason(error)}") from error


def _read_text(path: Path, separator: str, compression: str | None) -> pd.DataFrame:
    pandas = import_extra("pandas", "cli")

    def read(**options: Any) -> pd.DataFrame:
        # pandas needs one more package for zstd; pyarrow, which is there already, does not.
        if compression == "zstd":
            arrow = import_extra("pyarrow", "cli")
            with arrow.input_stream(str(path), compression="zstd") as stream:
                return pandas.read_csv(stream, sep=separator, **options)
        return pandas.read_csv(path, sep=separator, compression=compression, **options)

    try:
        # pandas renames a second "a" to "a.1" without a word: look at the names themselves.
        header = read(header=None, nrows=1, dtype=str, keep_default_na=False)
        _require_distinct(path, [name for name in header.iloc[0] if name])
        frame = read(low_memory=False)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {_quoted(path)}: it is not text in UTF-8. Save it in that encoding."
        ) from error
    except _UNREADABLE as error:
        raise InputError(f"Cannot read {_quoted(path)}: {_reason(error)}") from error
    # pandas takes what sticks out on the left for row names.
    if not isinstance(frame.index, pandas.RangeIndex):
        raise InputError(
            f"The rows of {_quoted(path)} have more cells than there are column names: check the "
            "first line, and the ends of the others."
        )
    return frame


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _require_distinct(path: Path, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{_quoted(path)} has several columns of the same name: {join_names(twice)}. Rename "
            "them, or add a line of names on top if there is none."
        )
