"""The command ``select``, which selects features by backward elimination or saliency."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._text import count_noun, printable, shorten
from ..exceptions import InputError
from .estimators import METHODS, build_selector, fit
from .options import add_options, estimator_options
from .output import MAX_FEATURES, Outputs, collected_notes, headline, plan_json, same_file

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.target import Target

_METHODS_HELP = "\n".join(f"  {name:13}  {method.help}" for name, method in METHODS.items())


@click.command(
    help=f"""Select features of TABLE by backward elimination or saliency.

TABLE has the same format as for "allrelevant report". The target must contain classes; saliency
also accepts numbers. Features and numeric targets are first scaled to mean 0 and variance 1.

\b
Methods:
{_METHODS_HELP}

\b
Examples:
  allrelevant select patients.csv --target diagnosis
  allrelevant select genes.csv --target y --method ebrfe --candidates 5 --checkpoint run.ckpt
  allrelevant select genes.csv --target y --step 0.1 --n-features one_se --nested-cv -o result.json
  allrelevant select genes.csv --target y --method saliency --kernel rbf --n-features 20
  allrelevant select houses.csv --target price --method saliency --n-features 0.25

To resume an interrupted run, repeat the command with the same --checkpoint.
"""
)
@click.argument("table")
@add_options("select")
@click.pass_obj
def select(
    command: str,
    /,
    table: str,
    target: str,
    drop: tuple[str, ...],
    task: str,
    groups: str | None,
    sep: str | None,
    output: str,
    quiet: bool,
    standardize: bool,
    method: str,
    **settings: Any,
) -> None:
    """Select features of a table file and write the result."""
    outputs = plan_json(output, quiet=quiet, table=table)
    import numpy as np

    from ..results.selection import selection_document
    from ..tables.features import ColumnRoles, split_features
    from ..tables.reading import read_table
    from ..terms.scaling import standardize_frame

    with collected_notes() as notes:
        frame = read_table(table, separator=sep)
        _check_checkpoint(settings["checkpoint"], outputs)
        if groups is not None and not METHODS[method].cross_validates:
            raise InputError(
                f"--groups requires cross-validation, but --method {method} does not use it. "
                "Remove --groups or choose a different method."
            )
        columns = split_features(frame, ColumnRoles(target, drop, row_groups=groups))
        label = _read_target(columns.y, target, task, method)
        options = estimator_options(settings, verbose=outputs.verbose)
        est = build_selector(method, options, label.task)
        outputs.note(label.note)
        X = standardize_frame(columns.X) if standardize else columns.X
        y = label.scale(np.arange(len(label.y))).apply(label.y)
        fit(est, X, y, **({} if groups is None else {"groups": columns.row_groups}))
        document = selection_document(
            est,
            label.y,
            table=Path(table).name,
            target=target,
            settings={
                "task": label.task,
                "standardize": standardize,
                "standardize_target": not label.is_classification,
                "groups": groups,
            },
            warnings=notes,
            command=command,
        )
        outputs.write(document, _to_text)


def _check_checkpoint(checkpoint: str | None, outputs: Outputs) -> None:
    if checkpoint is not None and outputs.json is not None and same_file(checkpoint, outputs.json):
        raise InputError(
            f"The checkpoint and the result cannot both be written to {checkpoint!r}. Use two "
            "different files."
        )


def _read_target(y: pd.Series, target: str, task: str, method: str) -> Target:
    from ..tables.target import Target, class_labels, read_target

    if "regression" in METHODS[method].tasks:
        return read_target(y, target, task)
    others = " or ".join(name for name in METHODS if "regression" in METHODS[name].tasks)
    if task == "regression":
        raise InputError(f"--task regression requires --method {others} (got {method}).")
    advice = f"To predict numbers, use --method {others} instead of {method}"
    return Target("classification", class_labels(y, target, numeric_advice=advice))


def _to_text(document: Mapping[str, Any]) -> str:
    selected = document["selected"]
    lines = [
        headline(document),
        f"{count_noun(document['n_selected'], 'feature', 'features')} selected by "
        f"{document['method']}{_default_size_note(document)}, best-ranked first:",
        *(f"  {shorten(printable(name), 70)}" for name in selected[:MAX_FEATURES]),
    ]
    if len(selected) > MAX_FEATURES:
        lines.append(f"  ... and {len(selected) - MAX_FEATURES:,} more.")
    return "\n".join([*lines, *_score_lines(document["score"], len(document["subsets"]))])


def _default_size_note(document: Mapping[str, Any]) -> str:
    """Return a note if the default number of features, half of them, was selected."""
    is_default = document["settings"].get("n_features_to_select", 0) is None
    return " (half of the features, because --n-features is not set)" if is_default else ""


def _score_lines(score: Mapping[str, Any], n_subsets: int) -> list[str]:
    lines = []
    if score["inner"] is not None:
        lines.append(
            f"{score['name']} {score['inner']:.3f} inner (cross-validated, optimistic: best of "
            f"{n_subsets:,} subsets)"
        )
    nested = score["nested"]
    if nested is not None:
        lines.append(
            f"{score['name']} {nested['mean']:.3f} nested (whole selection repeated in "
            f"{len(nested['by_fold'])} outer folds)"
        )
    elif lines:
        lines.append("Use --nested-cv to estimate the score on new rows.")
    return lines
