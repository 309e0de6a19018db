"""From a table to what decides in one of its rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InputError
from ..plots.labels import display_width, printable, shorten
from .analysis import fitted
from .outputs import Outputs, as_json
from .saliency import trainer
from .selection import standardized
from .tasks import AUTO
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

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
    outputs: Outputs,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Train on all other rows, explain these, and hand out the result."""
    from ..report import summarize_explanation
    from ..saliency import explain
    from ..tables import infer_task, split_target, target_for

    X, y = split_target(frame, target, drop)
    places = _places(rows, len(X))
    inferred = infer_task(y) if task == AUTO else None
    if inferred and not outputs.quiet:
        say(inferred.note, err=True)
    kind = inferred.task if inferred else task
    values = target_for(kind, y, target)
    known = np.setdiff1d(np.arange(len(X)), places)
    scaled = standardized(X) if standardize else X
    model = trainer(settings, classes=kind == "classification")
    fitted(model, scaled.iloc[known].to_numpy(), values[known])
    wanted = None if towards is None else _label(towards, model)
    truth = values[places] if wanted is None else None
    explanation = explain(model, scaled.iloc[places], truth, target=wanted)
    summary = summarize_explanation(
        explanation,
        X.iloc[places],
        rows,
        table=table,
        target=target,
        settings={"task": kind, "standardize": standardize, **settings},
        warnings=notes,
        command=command,
    )
    outputs.write(summary)
    _tell(summary, outputs)


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
    return next((label for label in model.classes_.tolist() if str(label) == text), text)


def _tell(summary: Mapping[str, Any], outputs: Outputs) -> None:
    if outputs.json_to_stdout:
        sys.stdout.write(as_json(summary))
    elif not outputs.quiet:
        say("\n".join(line for row in summary["rows"] for line in _lines(row)))
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
