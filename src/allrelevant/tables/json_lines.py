"""Reading of JSON lines: one object per line, with one value per column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..terms.columns import Frame, column_from_objects
from .limits import Limits
from .parsing import drop_marks, parse_column


def read_json_lines(data: bytes, limits: Limits) -> Frame:
    """Read a table from JSON lines; values missing in a line are missing in the table."""
    records: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for record in _records(data.decode("utf-8-sig")):
        records.append(record)
        names |= dict.fromkeys(record)
        limits.check_shape(len(records), len(names))
    if not records:
        raise ValueError("the file is empty")
    cells = {name: [record.get(name) for record in records] for name in names}
    return Frame(
        tuple(
            parse_column(name, values)
            if all(value is None or isinstance(value, str) for value in values)
            else column_from_objects(name, drop_marks(name, values))
            for name, values in cells.items()
        )
    )


def _records(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # not JSON, a number too long, or too nested
            raise ValueError(f"line {number} is not JSON ({error})") from error
        if not isinstance(record, dict):
            raise ValueError(f"line {number} is not an object with one value per column")
        yield record
