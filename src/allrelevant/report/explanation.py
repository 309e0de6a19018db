"""HTML report on explained rows: bars and values of the salient features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._text import number, printable, use_minus_sign
from ..results.explanation import (
    directions,
    format_saliency,
    format_usual,
    format_value,
    is_category,
    larger_values,
    meaning,
    position,
    quality_sentence,
    row_answer,
)
from .sections import MAX_ROWS, Document, Page, Section

# Number of features drawn for each row; the JSON contains all of them.
MAX_BARS = 30

# Margin of a range strip, in percent of its width.
_STRIP_MARGIN = 3.0


def page_variables(document: Document) -> dict[str, Any]:
    """Return the variables of the page and of all its sections."""
    rows = document["rows"]
    target = printable(document["table"]["target"])
    what = f"Row {rows[0]['row']}" if len(rows) == 1 else f"{len(rows):,} rows"
    is_complete = len(rows) * document["table"]["n_features"] <= MAX_ROWS
    return {
        "title": f"{what}: what the prediction of {target} depends on",
        "embedded": document if is_complete else None,
        "notes": document["warnings"],
        "meaning": use_minus_sign_in_parentheses(meaning(document)),
        "quality": quality_sentence(document),
    }


def use_minus_sign_in_parentheses(text: str) -> str:
    """Replace the sign (-) with a typographic minus sign."""
    return text.replace("(-)", "(\N{MINUS SIGN})")


def rows_view(document: Document) -> dict[str, Any]:
    """Return the sentences and the bars of each row."""
    return {
        "rows": [_row_view(row, document) for row in document["rows"]],
        "usual_fraction": document["usual_fraction"],
    }


def _row_view(row: Mapping[str, Any], document: Document) -> dict[str, Any]:
    features = row["features"][:MAX_BARS]
    supports, opposes = directions(row)
    hidden = row["features"][MAX_BARS:]
    return {
        "number": row["row"],
        "answer": row_answer(row, document["table"]["target"]),
        "supports": supports,
        "opposes": opposes,
        "larger_values": larger_values(row),
        "bars": _bars(features, raw=document["settings"]["raw"]),
        "n_hidden": len(hidden),
        "hidden_percent": sum(abs(feature["percent"]) for feature in hidden),
    }


def _bars(features: Sequence[Mapping[str, Any]], *, raw: bool) -> list[dict[str, Any]]:
    """Return one bar per feature; zero is in the middle, and the longest bar fills one half."""
    largest = max((abs(feature["percent"]) for feature in features), default=0.0) or 1.0
    bars = []
    for feature in features:
        width = round(50.0 * abs(feature["percent"]) / largest, 2)
        is_positive = feature["percent"] >= 0
        value = format_saliency(feature, largest, raw=raw)
        bars.append(
            {
                "name": feature["name"],
                "kind": "supports" if is_positive else "opposes",
                "left": 50.0 if is_positive else round(50.0 - width, 2),
                "width": width,
                "saliency": use_minus_sign(value),
                "value": format_value(feature, with_minus_sign),
                "usual": format_usual(feature, with_minus_sign),
                "is_category": is_category(feature),
                "position": position(feature),
                "strip": _strip(feature),
            }
        )
    return bars


def with_minus_sign(value: float) -> str:
    """Format a number with a typographic minus sign."""
    return use_minus_sign(number(value))


def _strip(feature: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the usual range and the value on a common axis, in percent of its width.

    Categories and missing values have no axis.
    """
    if is_category(feature) or feature["value"] is None or feature["usual"][0] is None:
        return None
    low, high = feature["usual"]
    start, end = min(low, feature["value"]), max(high, feature["value"])
    room = 100.0 - 2 * _STRIP_MARGIN

    def place(value: float) -> float:
        fraction = (value - start) / (end - start) if end > start else 0.5
        return round(_STRIP_MARGIN + room * fraction, 2)

    left = place(low)
    return {"left": left, "width": round(place(high) - left, 2), "value": place(feature["value"])}


def settings_view(document: Document) -> dict[str, Any]:
    """Return an empty dict, because the template reads the settings from the document."""
    return {}


PAGE = Page(
    template="explanation.html",
    variables=page_variables,
    sections=(
        Section("rows", "rows.html", rows_view),
        Section("settings", "model_settings.html", settings_view),
    ),
)
