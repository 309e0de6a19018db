"""What an explanation of rows says, as plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .plain import plain
from .versions import versions

if TYPE_CHECKING:
    import pandas as pd

    from ..saliency import Explanation

# Raised when a field changes its meaning or goes away, so that readers of the JSON can tell.
FORMAT_VERSION = 1


def summarize_explanation(
    explanation: Explanation,
    features: pd.DataFrame,
    rows: Sequence[int],
    *,
    table: str | None = None,
    target: str | None = None,
    model: Any = None,
    quality: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    warnings: Iterable[str] = (),
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Everything worth telling about explained rows, ready for JSON.

    Parameters
    ----------
    explanation : Explanation
    features : pandas.DataFrame
        The rows that are explained, as they stand in the table.
    rows : sequence of int
        Their numbers there.
    table, target : str, default=None
        Names.
    model : estimator, default=None
        The one that is explained.
    quality : mapping, default=None
        How good the model is on rows that it has not seen.
    settings : mapping, default=None
        How the model was trained.
    warnings : iterable of str, default=()
        What the reader should know besides.
    command : str, default=None
        The command line that made it.
    created : datetime, default=None
        By default now.

    Returns
    -------
    dict
        Of dicts, lists, strings, numbers, booleans and None; the features of each row with the
        most salient first.
    """
    return {
        "format_version": FORMAT_VERSION,
        "created": (created or datetime.now(UTC)).isoformat(timespec="seconds"),
        "command": command,
        "table": {"name": table, "target": target, "n_features": features.shape[1]},
        "quality": None if quality is None else plain(quality),
        "rows": [_row(explanation, features, place, number) for place, number in enumerate(rows)],
        "settings": plain(settings or {}),
        "versions": versions(model),
        "warnings": list(warnings),
    }


def _row(
    explanation: Explanation, features: pd.DataFrame, place: int, number: int
) -> dict[str, Any]:
    order = np.argsort(-explanation.absolute[place], kind="stable")
    return {
        "row": number,
        "explained": plain(explanation.targets[place]),
        "predicted": plain(explanation.predicted[place]),
        "wrong": bool(explanation.wrong[place]),
        "note": explanation.note(place),
        "gain": float(explanation.gains[place]),
        "features": [
            {
                "name": explanation.names[j],
                "value": float(features.iloc[place, j]),
                "saliency": float(explanation.saliency[place, j]),
            }
            for j in order
        ],
    }
