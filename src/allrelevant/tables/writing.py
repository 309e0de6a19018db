"""Writing of tables in the format that the suffix of the file name indicates.

To add a format, add an entry to :data:`WRITERS`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .._optional import import_extra
from .._text import join_names
from ..exceptions import InputError

Values = Mapping[str, Sequence[Any]]


def _to_text(columns: Values, separator: str) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue().encode("utf-8", errors="backslashreplace")


def _to_excel(columns: Values) -> bytes:
    xlsxwriter = import_extra("xlsxwriter", "excel")
    stream = io.BytesIO()
    # Feature names are user input: they must not become formulas or links.
    options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
    with xlsxwriter.Workbook(stream, options) as workbook:
        sheet = workbook.add_worksheet("result")
        for place, (name, values) in enumerate(columns.items()):
            sheet.write_column(0, place, [name, *values])
    return stream.getvalue()


def _to_parquet(columns: Values) -> bytes:
    arrow = import_extra("pyarrow", "parquet")
    parquet = import_extra("pyarrow.parquet", "parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.table(dict(columns)), stream)
    return stream.getvalue()


WRITERS: Mapping[str, Callable[[Values], bytes]] = {
    ".csv": partial(_to_text, separator=","),
    ".tsv": partial(_to_text, separator="\t"),
    ".xlsx": _to_excel,
    ".parquet": _to_parquet,
}

# For messages and help: ".csv, .tsv, .xlsx or .parquet".
FORMATS = join_names(list(WRITERS), conjunction="or", quote=False)

# Modules that formats require, with the extra that installs them.
_REQUIRED = {".xlsx": ("xlsxwriter", "excel"), ".parquet": ("pyarrow", "parquet")}


def check_format(path: str | Path) -> None:
    """Raise if the suffix of a file name is not a format, or if its library is not installed."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"Cannot write a table to {str(path)!r}. Use the suffix {FORMATS}.")
    if suffix in _REQUIRED:
        import_extra(*_REQUIRED[suffix])


def encode_table(path: str | Path, columns: Values) -> bytes:
    """Return the content of a table file; the columns have equal lengths."""
    return WRITERS[Path(path).suffix.lower()](columns)
