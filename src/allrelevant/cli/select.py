"""From a table to the features that a method selects."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import count_noun, printable, shorten
from ..exceptions import InputError
from ..tables.target import Target, read_classes, read_target
from .estimators import METHODS, build
from .output import MAX_FEATURES, Outputs, as_json, echo
from .report import fitted

if TYPE_CHECKING:
    import pandas as pd


def select_features(
    frame: pd.DataFrame,
    *,
    target: str,
    drop: tuple[str, ...],
    groups: str | None,
    method: str,
    task: str,
    standardize: bool,
    settings: Mapping[str, Any],
    given: Collection[str],
    outputs: Outputs,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Select features of a table, and hand out the result."""
    from ..results import selection_document
    from ..tables import split_target

    _require_own_file(settings["checkpoint"], outputs)
    verbose = int(sys.stderr.isatty() and not outputs.quiet)
    group_of = None
    if groups is not None:
        _require_folds(method)
        frame, group_of = _without_groups(frame, groups, target)
    X, y = split_target(frame, target, drop)
    found = _read(y, target, task, method)
    est = build(method, {**settings, "verbose": verbose}, given, classes=found.holds_classes)
    if found.note and not outputs.quiet:
        echo(found.note, err=True)
    known = {} if group_of is None else {"groups": group_of}
    values = found.scale(np.arange(len(y))).apply(found.y)
    fitted(est, standardized(X) if standardize else X, values, **known)
    summary = selection_document(
        est,
        found.y,
        table=table,
        target=target,
        settings={
            "task": found.task,
            "standardize": standardize,
            "standardize_target": not found.holds_classes,
            "groups": groups,
        },
        warnings=notes,
        command=command,
    )
    outputs.write(summary)
    _tell(summary, outputs)


def _read(y: pd.Series, target: str, task: str, method: str) -> Target:
    if METHODS[method].numbers:
        return read_target(y, target, task)
    return read_classes(y, target, task, method)


def _require_own_file(checkpoint: str | None, outputs: Outputs) -> None:
    if checkpoint is None or outputs.json is None:
        return
    if Path(checkpoint).resolve() == outputs.json.resolve():
        raise InputError(f"The checkpoint and the result cannot both go to {checkpoint!r}.")


def _require_folds(method: str) -> None:
    if "cv" not in METHODS[method].options:
        raise InputError(f"--groups goes with methods that cross-validate, and {method} does not.")


def _without_groups(
    frame: pd.DataFrame, groups: str, target: str
) -> tuple[pd.DataFrame, pd.Series]:
    from ..tables.features import require_column

    require_column(groups, [str(name) for name in frame.columns])
    if groups == target:
        raise InputError(f"{groups!r} is the target: it cannot be the groups as well.")
    if frame[groups].isna().any():
        raise InputError(f"The groups {groups!r} are missing in some rows: fill them in.")
    return frame.drop(columns=groups), frame[groups].astype(str)


def standardized(X: pd.DataFrame) -> pd.DataFrame:
    """Each column with mean 0 and variance 1; constant ones stay."""
    spread = X.std(ddof=0)
    return (X - X.mean()) / spread.where(spread > 0, 1.0)


def _tell(summary: Mapping[str, Any], outputs: Outputs) -> None:
    if outputs.json_to_stdout:
        sys.stdout.write(as_json(summary))
    elif not outputs.quiet:
        echo("\n".join(_lines(summary)))
    if outputs.json is not None and not outputs.quiet:
        echo(f"Result written to {outputs.json}")


def _lines(summary: Mapping[str, Any]) -> list[str]:
    table, selected = summary["table"], summary["selected"]
    lines = [
        f"{printable(table['name'])}: {table['n_rows']:,} rows, {table['n_features']:,} features, "
        f"target {shorten(printable(table['target']), 40)}",
        f"{count_noun(summary['n_selected'], 'feature', 'features')} selected by "
        f"{summary['method']}{_how_many(summary)}, the last to leave first:",
        *(f"  {shorten(printable(name), 70)}" for name in selected[:MAX_FEATURES]),
    ]
    if len(selected) > MAX_FEATURES:
        lines.append(f"  ... and {len(selected) - MAX_FEATURES:,} more.")
    return [*lines, *_score_lines(summary["score"], len(summary["subsets"]))]


def _how_many(summary: Mapping[str, Any]) -> str:
    """Why so many, where neither the user nor a score has said so."""
    undecided = summary["settings"].get("n_features_to_select", 0) is None
    return " (no --n-features given: half of the features)" if undecided else ""


def _score_lines(score: Mapping[str, Any], n_subsets: int) -> list[str]:
    lines = []
    if score["inner"] is not None:
        lines.append(
            f"{score['name']} {score['inner']:.3f} inner: cross-validated, but too good to be true "
            f"of new rows, for it was chosen among {n_subsets:,} subsets"
        )
    nested = score["nested"]
    if nested is not None:
        lines.append(
            f"{score['name']} {nested['mean']:.3f} nested: the whole selection, on rows it never "
            f"saw ({len(nested['by_fold'])} outer folds)"
        )
    elif lines:
        lines.append("--nested-cv adds what to expect of new rows.")
    return lines
