"""From a table to what decides in one of its rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InputError, RelevanceWarning
from ..plots.labels import display_width, printable, shorten
from .analysis import fitted
from .outputs import Outputs, as_json
from .quality import Quality, cross_validated
from .saliency import trainer
from .selection import standardized
from .target import AsTheyAre, Standardized, read_target, require_classes_left
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

    from ..saliency import Explanation

_SHOWN, _NAME_WIDTH = 15, 40


def explain_rows(
    frame: pd.DataFrame,
    rows: Sequence[int],
    *,
    target: str,
    drop: tuple[str, ...],
    task: str,
    towards: str | None,
    standardize: bool,
    settings: Mapping[str, Any],
    given: Collection[str],
    outputs: Outputs,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Train on all other rows, explain these, and hand out the result."""
    from ..report import summarize_explanation
    from ..saliency import explain
    from ..tables import split_target

    X, y = split_target(frame, target, drop)
    places = _places(rows, len(X))
    found = read_target(y, target, task)
    if found.note and not outputs.quiet:
        say(found.note, err=True)
    require_classes_left(found, rows, towards=towards)
    known = np.setdiff1d(np.arange(len(X)), places)
    scale = found.scale(known)
    features = standardized(X) if standardize else X
    model = trainer(settings, given, classes=found.holds_classes)
    table_known, values = features.iloc[known].to_numpy(), scale.apply(found.y[known])
    fitted(model, table_known, values)
    wanted = None if towards is None else _label(towards, model)
    truth = scale.apply(found.y[places]) if wanted is None else None
    explanation = explain(model, features.iloc[places], truth, target=wanted)
    quality = cross_validated(model, table_known, values, seed=settings["random_state"])
    _warn_if_poor(quality)
    summary = summarize_explanation(
        _in_units_of_the_table(explanation, scale),
        X.iloc[places],
        rows,
        table=table,
        target=target,
        model=model,
        quality=asdict(quality),
        settings={
            "task": found.task,
            "standardize": standardize,
            "standardize_target": not found.holds_classes,
            **settings,
        },
        warnings=notes,
        command=command,
    )
    outputs.write(summary)
    _tell(summary, quality, outputs)


def _in_units_of_the_table(
    explanation: Explanation, scale: AsTheyAre | Standardized
) -> Explanation:
    return replace(
        explanation,
        targets=scale.undo(explanation.targets),
        predicted=scale.undo(explanation.predicted),
    )


def _warn_if_poor(quality: Quality) -> None:
    if quality.is_poor:
        warnings.warn(
            "The model is no better than always guessing the same: what decides in it says "
            "nothing about the target.",
            RelevanceWarning,
            stacklevel=2,
        )


def _places(rows: Sequence[int], n_rows: int) -> list[int]:
    for row in rows:
        if row > n_rows:
            raise InputError(f"There is no row {row}: the table has {n_rows}.")
    if len(set(rows)) > n_rows - 4:
        raise InputError(
            f"The model is trained on the rows that are not explained, and of {n_rows} only "
            f"{n_rows - len(set(rows))} are left: explain fewer."
        )
    return [row - 1 for row in rows]


def _label(text: str, model: Any) -> Any:
    """A class by what it is called; one that does not exist is refused by its name."""
    if not hasattr(model, "classes_"):
        raise InputError("--class names a class, and the target is a number.")
    labels = model.classes_.tolist()
    as_written = [label for label in labels if str(label) == text]
    by_value = [label for label in labels if _has_value(label, text)]
    return [*as_written, *by_value, text][0]


def _has_value(label: Any, text: str) -> bool:
    """Whether a class that is no word is meant by a text: 1 by 1.0, True by true."""
    if isinstance(label, str):
        return False
    if isinstance(label, bool):
        return str(label).lower() == text.lower()
    try:
        return float(text) == label
    except ValueError:
        return False


def _tell(summary: Mapping[str, Any], quality: Quality, outputs: Outputs) -> None:
    if outputs.json_to_stdout:
        sys.stdout.write(as_json(summary))
    elif not outputs.quiet:
        rows = [line for row in summary["rows"] for line in _lines(row)]
        say("\n".join([quality.line, *rows]))
    if outputs.json is not None and not outputs.quiet:
        say(f"Result written to {outputs.json}")


def _lines(row: Mapping[str, Any]) -> list[str]:
    shown = row["features"][:_SHOWN]
    names = [shorten(printable(feature["name"]), _NAME_WIDTH) for feature in shown]
    longest = max(len("feature"), *map(display_width, names))
    lines = [
        f"Row {row['row']}: {printable(row['note'])}",
        f"  {'feature':{longest}}  {'value':>10}  {'saliency':>10}",
    ]
    for name, feature in zip(names, shown, strict=True):
        padded = name + " " * (longest - display_width(name))
        lines.append(f"  {padded}  {feature['value']:>10.4g}  {feature['saliency']:>+10.3g}")
    hidden = len(row["features"]) - len(shown)
    return [*lines, f"  ... and {hidden:,} less salient features."] if hidden else lines
