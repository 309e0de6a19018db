"""The command ``select``, which selects features by backward elimination or saliency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .._text import display_width, printable, shorten, wrap
from ..exceptions import InputError
from .effort import bounds_are_fast, find_small_set, find_substitutes, is_moderate
from .estimators import BOUNDS, METHODS, Options, build_selector, fit
from .options import SELECTION_PAGE, add_options, estimator_options
from .output import (
    MAX_FEATURES,
    Outputs,
    collected_notes,
    headline,
    plan_outputs,
    same_file,
    text_width,
)
from .table import fit_arguments, table_input

if TYPE_CHECKING:
    from ..results.selection import SelectionBounds
    from ..tables.features import SplitTable
    from ..tables.target import Target
    from ..terms.columns import Column

_METHODS_HELP = "\n".join(f"  {name:13}  {method.help}" for name, method in METHODS.items())

_DEFAULT_METHODS = {"classification": "svmrfe", "regression": "saliency"}

_NAME_WIDTH = 36


@click.command(
    help=f"""Select a small set of features from TABLE that predicts the target well.

The command prints the result and writes an HTML report. It gives the selected features and their
score on held-out rows, next to the scores of all features and of a constant prediction. A figure
shows the score by number of features. If the table is not too large, relevance bounds are computed
as well. They show which selected features can be replaced by others, and the smallest set that
suffices for an equivalent linear model.

TABLE has the same format as for "allrelevant report". The target must contain classes; saliency
also accepts numbers. Features and numeric targets are first scaled to mean 0 and variance 1.

\b
Methods:
{_METHODS_HELP}

\b
Examples:
  allrelevant select patients.csv --target diagnosis
  allrelevant select patients.csv --target diagnosis --n-features 5 -o five.html
  allrelevant select genes.csv --target y --method ebrfe --candidates 5 --checkpoint run.ckpt
  allrelevant select genes.csv --target y --n-features one_se --nested-cv --json result.json
  allrelevant select genes.csv --target y --method saliency --kernel rbf --n-features 20
  allrelevant select houses.csv --target price --n-features 0.25

To resume an interrupted run, repeat the command with the same --checkpoint.
"""
)
@click.argument("table")
@add_options("select")
@click.pass_obj
def select(
    command: str,
    /,
    task: str,
    bounds: bool | None,
    output: str | None,
    json_output: str | None,
    table_output: str | None,
    quiet: bool,
    method: str | None,
    score: bool,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Select features of a table file and write the result."""
    source = table_input(settings)
    outputs = plan_outputs(
        output,
        json_output,
        table_output,
        default=SELECTION_PAGE,
        quiet=quiet,
        table=source.table,
    )
    import numpy as np

    from ..parallel import cluster_context
    from ..results.selection import selection_document

    with collected_notes() as notes:
        columns = source.split(numbers_only=False)
        _check_checkpoint(settings["checkpoint"], outputs)
        label = _read_target(columns.y, source.target, task, method)
        method = method or _DEFAULT_METHODS[label.task]
        options = estimator_options(
            settings, verbose=outputs.verbose, balanced=bool(settings["class_weight"])
        )
        size = _number_of_features(settings["n_features_to_select"], columns.X.shape[1], score)
        # To score a given number of features, the selector is fitted with a rule, which scores
        # all subsets, and the number is selected afterwards.
        selects_later = score and size is not None and METHODS[method].selects_later
        est = build_selector(method, options, label.task, keep_size=not selects_later)
        arguments = fit_arguments(est, columns)
        outputs.note(label.note)
        y = label.scale(np.arange(len(label.y))).apply(label.y)
        with cluster_context(cluster, settings["n_jobs"]):
            fit(est, columns.X, y, **arguments)
            if selects_later:
                est.select(size)
            document = selection_document(
                est,
                label.y,
                task=label.task,
                table=source.name,
                target=source.target,
                settings={
                    "n_features_to_select": _requested_size(est, settings),
                    "task": label.task,
                    "standardize_target": not label.is_classification,
                    "groups": source.groups,
                },
                warnings=notes,
                command=command,
                bounds=_fit_bounds(columns, label, options, est.get_support(), wanted=bounds),
            )
        outputs.write(document, _to_text)


def _check_checkpoint(checkpoint: str | None, outputs: Outputs) -> None:
    for path in outputs.files:
        if checkpoint is not None and path is not None and same_file(checkpoint, path):
            raise InputError(
                f"The checkpoint and the result cannot both be written to {checkpoint!r}. Use two "
                "different files."
            )


def _read_target(y: Column, target: str, task: str, method: str | None) -> Target:
    from ..tables.target import Target, class_labels, read_target

    if method is None or "regression" in METHODS[method].tasks:
        return read_target(y, target, task)
    others = " or ".join(name for name in METHODS if "regression" in METHODS[name].tasks)
    if task == "regression":
        raise InputError(f"--task regression requires --method {others} (got {method}).")
    advice = f"To predict numbers, use --method {others} instead of {method}"
    return Target("classification", class_labels(y, target, numeric_advice=advice))


def _number_of_features(size: Any, n_features: int, score: bool) -> Any:
    """Return the number or fraction of features to select; None if a rule chooses the number."""
    is_number = size is not None and not isinstance(size, str)
    if not score and not is_number:
        raise InputError(
            "--no-score requires a fixed number of features, because 'best' and the other rules "
            "compare scores. Add --n-features N."
        )
    if is_number and size > n_features:
        raise InputError(
            f"--n-features {size} exceeds the number of features ({n_features}). "
            "Pass a smaller number."
        )
    return size if is_number else None


def _requested_size(est: Any, settings: Mapping[str, Any]) -> Any:
    size = settings["n_features_to_select"]
    return getattr(est, "n_features_to_select", None) if size is None else size


def _fit_bounds(
    columns: SplitTable, label: Target, options: Options, selected: Any, *, wanted: bool | None
) -> SelectionBounds | None:
    """Compute bounds, the smallest sufficient set, and the substitutes of both sets of features."""
    from ..results.answer import has_evidence
    from ..results.selection import SelectionBounds

    X = columns.X
    if not (bounds_are_fast(X) if wanted is None else wanted):
        return None
    names = ("random_state", "n_jobs", "standardize", "verbose")
    settings = {name: options.settings[name] for name in names}
    est = BOUNDS[label.task].build(Options(settings, {}), label.task)
    fit(est, X, label.y, **fit_arguments(est, columns))
    wants_small_set = (wanted or is_moderate(est, X)) and has_evidence(est.table_pvalue_)
    small_set = find_small_set(est, wanted=wants_small_set)
    either = selected if small_set is None else selected | small_set.get_support()
    return SelectionBounds(est, substitutes=find_substitutes(est, either), small_set=small_set)


def _to_text(document: Mapping[str, Any]) -> str:
    """Format a selection as text: the answer in sentences, and the table of its features."""
    from ..results.selection_answer import recommendation, selection_answer, small_set_sentence

    answer, width = selection_answer(document), text_width()
    lines = [headline(document), ""]
    for text in (
        answer.lead,
        f"{answer.quality} {answer.verdict} {answer.scope}",
        answer.size,
        answer.stability,
        answer.bounds,
    ):
        lines += wrap(text, width)
    small_set = small_set_sentence(document)
    if small_set:
        lines += ["", *wrap(f"Small set: {small_set}", width)]
        lines += wrap(recommendation(document), width)
    lines += ["", *_feature_lines(document), ""]
    if document["bounds"] is None:
        lines.append("To find out which features can be replaced, add --bounds.")
    return "\n".join(lines)


def _feature_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the table of the selected features and of the small set, best-ranked first."""
    from ..results.selection_answer import features_of_sets, replacement, set_name

    features = features_of_sets(document)
    shown = features[:MAX_FEATURES]
    held_out, bounds = document["score"]["held_out"], document["bounds"]
    names = [shorten(printable(f["name"]), _NAME_WIDTH) for f in shown]
    columns = (
        {"selected feature": names}
        if all(f["selected"] for f in features)
        else {"feature": names, "set": [set_name(f) for f in shown]}
    )
    columns["rank"] = [f"{f['rank']:,}" for f in shown]
    if held_out is not None:
        n_folds = len(held_out["by_fold"])
        columns["in folds"] = [f"{round(f['frequency'] * n_folds)} of {n_folds}" for f in shown]
    if bounds is not None:
        columns["relevance"] = [f["relevance"] for f in shown]
        if bounds["has_substitutes"]:
            columns["can be replaced by"] = [
                replacement(f, document["selected"], at_most=2) for f in shown
            ]
    lines = _align(columns)
    if len(features) > len(shown):
        lines.append(f"... and {len(features) - len(shown):,} more.")
    return lines


def _align(columns: Mapping[str, list[str]]) -> list[str]:
    """Return the rows of a table with aligned columns; numbers are aligned to the right."""
    lines = [""] * (1 + len(next(iter(columns.values()))))
    for heading, cells in columns.items():
        texts = [heading, *cells]
        width = max(map(display_width, texts))
        for place, text in enumerate(texts):
            padding = " " * (width - display_width(text))
            aligned = padding + text if heading in ("rank", "in folds") else text + padding
            lines[place] += f"{aligned}  "
    return [line.rstrip() for line in lines]
