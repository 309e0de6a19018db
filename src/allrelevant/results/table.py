"""Results per feature as the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .document import EXPLANATION

Records = Sequence[Mapping[str, Any]]


def feature_table(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of the result table of a document, by name.

    The table has one row per feature, privileged features last. Explanations have one row per
    feature of each explained row. Lists of values, such as the bounds of each class, become one
    column per value.
    """
    if document["kind"] == EXPLANATION:
        records = [
            {"row": row["row"], **_flatten(feature)}
            for row in document["rows"]
            for feature in row["features"]
        ]
        return _columns(records)
    privileged = document.get("privileged") or []
    records = [_flatten(feature) for feature in document["features"]]
    if privileged:
        records = [{**record, "privileged": False} for record in records]
        records += [{**_flatten(feature), "privileged": True} for feature in privileged]
    return _columns(records)


def _flatten(feature: Mapping[str, Any]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for key, value in feature.items():
        name = "feature" if key == "name" else key
        if not isinstance(value, list):
            cells[name] = value
        elif all(isinstance(item, str) for item in value):
            cells[name] = "; ".join(value)
        else:
            for place, item in enumerate(value):
                entries = item.items() if isinstance(item, Mapping) else [("", item)]
                for part, entry in entries:
                    cells["_".join(filter(None, (name, str(place), part)))] = entry
    return cells


def _columns(records: Records) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}
