"""Reading of Excel sheets and OpenDocument spreadsheets."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._optional import import_extra
from .._text import join_names
from ..exceptions import InputError
from ..terms.columns import Frame, column_from_objects
from .limits import Limits
from .parsing import drop_marks, parse_column
from .spreadsheet_size import check_archive
from .text import check_distinct_names


def read_excel(data: bytes, name: str, sheet: str | None, limits: Limits) -> Frame:
    """Read a table from a sheet of a spreadsheet, by default the first one."""
    calamine = import_extra("python_calamine", "excel")
    if zipfile.is_zipfile(io.BytesIO(data)):
        check_archive(data, limits)
    try:
        with _panics_as_errors():
            workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
            if sheet is not None and sheet not in workbook.sheet_names:
                raise InputError(
                    f"{name!r} has no sheet {sheet!r}. Its sheets are "
                    f"{join_names(workbook.sheet_names)}."
                )
            if not workbook.sheet_names:
                raise ValueError("the file contains no sheets")
            chosen = workbook.sheet_names[0] if sheet is None else sheet
            rows = workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except calamine.CalamineError as error:
        raise ValueError(str(error)) from error
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError(f"the sheet {chosen!r} is empty")
    header, *body = rows
    limits.check_shape(len(body), len(header))
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


@contextmanager
def _panics_as_errors() -> Iterator[None]:
    """Convert panics of the library to ``ValueError``, and keep it from writing to standard error.

    A panic is raised as an exception that derives from ``BaseException``.
    """
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError("the file is damaged") from error
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def _blank_to_none(cells: list[Any]) -> list[Any]:
    return [None if cell == "" else cell for cell in cells]


def _header_cell(cell: Any, position: int) -> str:
    """Return a column name; numbers are stored as floats in Excel files."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell) if str(cell).strip() else f"Unnamed: {position}"
