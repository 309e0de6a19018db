"""The command ``explain``, which computes the saliency of features for individual rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from .._text import display_width, printable, shorten, wrap
from ..exceptions import InputError, warn_caller
from .estimators import fit, model_to_train
from .options import EXPLANATION_PAGE, add_options, estimator_options
from .output import collected_notes, headline, plan_outputs, text_width
from .table import fit_arguments, table_input

if TYPE_CHECKING:
    from .._typing import Matrix, Rows, Vector
    from ..saliency import Explanation
    from ..saliency.encoded import EncodedRows
    from ..tables.features import SplitTable
    from ..tables.target import Target
    from ..terms.columns import Frame

MIN_TRAINING_ROWS = 4

# Terminal output.
_MAX_FEATURES = 15
_NAME_WIDTH = 40


@click.command(
    help="""Explain the predictions for individual rows of TABLE.

A model is trained on all other rows (with --groups, on the rows of all other groups). For each row,
the command gives the prediction and how often similar predictions were correct. It lists the
features that support or oppose the prediction, with the usual range of their values. The result is
printed and written to an HTML report.

Saliency shows how strongly a small increase in a feature would strengthen (+) or weaken (-) the
prediction. Increases are measured in standard deviations. Values are percentages of the total over
all features. Saliency does not show how much the present value contributed, and it is not a causal
effect. For a category or a missing value, the sign shows whether the value of the row strengthens
or weakens the prediction, compared with the average row.

TABLE has the same format as for "allrelevant report". The target contains classes or numbers. The
score of the model is estimated by 5-fold cross-validation on the training rows.

\b
Examples:
  allrelevant explain patients.csv --target diagnosis --row 17
  allrelevant explain patients.csv --target diagnosis --row 17 --class healthy
  allrelevant explain houses.csv --target price --row 3 --row 8 -o houses.html
  allrelevant explain houses.csv --target price --row 3 --json result.json
"""
)
@click.argument("table")
@add_options("explain")
@click.pass_obj
def explain(
    command: str,
    /,
    rows: tuple[int, ...],
    task: str,
    towards: str | None,
    raw: bool,
    output: str | None,
    json_output: str | None,
    table_output: str | None,
    quiet: bool,
    standardize: bool,
    **settings: Any,
) -> None:
    """Train a model on all other rows of a table and explain the given rows."""
    source = table_input(settings)
    outputs = plan_outputs(
        output,
        json_output,
        table_output,
        default=EXPLANATION_PAGE,
        quiet=quiet,
        table=source.table,
    )
    from ..results.explanation import explanation_document
    from ..saliency import explain as explain_saliency
    from ..saliency.quality import decision_margins, predict_held_out
    from ..tables.target import read_target

    with collected_notes() as notes:
        columns = source.split(numbers_only=False)
        indices = _row_indices(rows, columns)
        label = read_target(columns.y, source.target, task)
        outputs.note(label.note)
        others = _training_rows(columns, indices)
        _check_training_classes(label, rows, indices, others, towards=towards)

        table = _scale(columns.X, others, indices, standardize=standardize)
        scale = label.scale(others)
        X_train, y_train = table.train, scale.apply(label.y[others])
        flags = estimator_options(settings).user_flags
        unfitted = model_to_train(task=label.task, user_flags=flags, **settings)
        weights = fit_arguments(unfitted, replace(columns, row_groups=None))
        weights = {name: values[others] for name, values in weights.items()}
        model = fit(unfitted, X_train, y_train, **weights)
        class_label = None if towards is None else _class_label(towards, model)
        explanation = table.per_feature(
            explain_saliency(model, table.explained, target=class_label),
            lambda rows, y: explain_saliency(model, rows, y).gains,
        )
        held_out = predict_held_out(
            model,
            X_train,
            y_train,
            seed=settings["random_state"],
            row_groups=None if columns.row_groups is None else columns.row_groups[others],
            weight=weights.get("sample_weight"),
        )
        if held_out.quality().is_poor:
            warn_caller(
                "The model does no better than a constant prediction, so its explanations say "
                "nothing about the target. Do not interpret them."
            )
        document = explanation_document(
            replace(  # back to the units of the table
                explanation,
                targets=scale.undo(explanation.targets),
                predicted=scale.undo(explanation.predicted),
            ),
            columns.X,
            rows,
            indices=indices,
            actual=label.y[indices],
            margins=decision_margins(model, table.explained) if label.is_classification else None,
            held_out=replace(
                held_out, y=scale.undo(held_out.y), predicted=scale.undo(held_out.predicted)
            ),
            table=source.name,
            target=source.target,
            model=model,
            settings={
                "task": label.task,
                "standardize": standardize,
                "standardize_target": not label.is_classification,
                "raw": raw,
                "groups": source.groups,
                "weights": source.weights,
                **settings,
            },
            warnings=notes,
            command=command,
        )
        outputs.write(document, _to_text)


@dataclass(frozen=True)
class _ScaledRows:
    """Training rows and explained rows as columns of numbers.

    ``encoded`` is None if the table has only numbers, so that each column is a feature.
    """

    X: Frame  # explained rows of the table
    train: Matrix
    explained: Matrix
    encoded: EncodedRows | None

    def per_feature(
        self, explanation: Explanation, gains: Callable[[Matrix, Any], Vector]
    ) -> Explanation:
        """Return an explanation of the features of the table, given that of its columns.

        ``gains`` returns the gains of rows for given classes, or for their own predicted numbers.
        """
        if self.encoded is None:
            return replace(explanation, names=self.X.columns)
        y = explanation.targets if explanation.of_classes else None
        return self.encoded.combine(explanation, self.X, lambda rows: gains(rows, y))


def _scale(X: Frame, others: Rows, indices: Sequence[int], *, standardize: bool) -> _ScaledRows:
    """Encode and scale a table; categories and missing values are learned on the other rows."""
    import numpy as np

    from .._validation import MAX_SIZE, MAX_UNSCALED
    from ..saliency.encoded import EncodedRows
    from ..terms.encoding import needs_encoding
    from ..terms.scaling import standardize_columns
    from ..terms.validation import check_finite_columns

    check_finite_columns(list(X), MAX_SIZE if standardize else MAX_UNSCALED)
    train, explained = X.take_rows(others), X.take_rows(np.asarray(indices))
    if needs_encoding(X):
        encoded = EncodedRows.from_table(train, standardize=standardize)
        return _ScaledRows(explained, encoded.apply(train), encoded.apply(explained), encoded)
    values = X.to_numpy()
    scaled = standardize_columns(values) if standardize else values
    return _ScaledRows(explained, scaled[others], scaled[indices], None)


def _row_indices(rows: Sequence[int], columns: SplitTable) -> list[int]:
    """Return the positions of rows of the file; raise if too few rows remain for training."""
    position = {int(row) + 1: index for index, row in enumerate(columns.rows)}
    n_rows = len(columns.y)
    last = max(position)
    for row in rows:
        if row > last:
            raise InputError(
                f"Row {row} is out of range: the table has {last} rows. Use --row 1 to {last}."
            )
        if row not in position:
            raise InputError(
                f"Row {row} has no value of the target, so it cannot be compared with the "
                "prediction. Choose a different row."
            )
    if len(set(rows)) > n_rows - MIN_TRAINING_ROWS:
        raise InputError(
            f"Only {n_rows - len(set(rows))} of {n_rows} rows remain for training, because the "
            "explained rows are excluded. Explain fewer rows at a time."
        )
    return [position[row] for row in rows]


def _training_rows(columns: SplitTable, indices: Sequence[int]) -> Rows:
    """Return the positions of the rows to train on; raise if there are too few.

    Rows of the same groups as the explained rows are excluded, and rows of weight zero.
    """
    import numpy as np

    groups, weights = columns.row_groups, columns.weights
    is_used = ~np.isin(np.arange(len(columns.X)), indices)
    if groups is not None:
        is_used &= ~np.isin(groups, groups[indices])
    if weights is not None:
        is_used &= weights > 0
    if is_used.sum() < MIN_TRAINING_ROWS:
        raise InputError(
            f"Only {is_used.sum()} of {len(is_used)} rows remain for training, because rows of "
            "weight zero and all rows of the explained groups are excluded. Explain fewer rows at "
            "a time, or remove --groups."
        )
    if groups is not None and len(set(groups[is_used])) < 2:
        raise InputError(
            "Only one group remains for training, but the score of the model requires two. Explain "
            "fewer rows at a time, or remove --groups."
        )
    return np.flatnonzero(is_used)


def _check_training_classes(
    target: Target,
    rows: Sequence[int],
    indices: Sequence[int],
    others: Rows,
    *,
    towards: str | None,
) -> None:
    """Raise if a class to explain has no row among the training rows ``others``.

    The class to explain is ``towards``, or by default the class of each row.
    """
    if not target.is_classification:
        return
    labels = target.y.tolist()
    remaining = {labels[index] for index in others}
    for index in indices:
        label = labels[index]
        if label not in remaining and (towards is None or len(remaining) < 2):
            class_rows = sorted(
                {r for r, i in zip(rows, indices, strict=True) if labels[i] == label}
            )
            n_excluded = labels.count(label) - len(class_rows)
            raise InputError(_no_training_row_message(class_rows, label, n_excluded))


def _no_training_row_message(rows: list[int], label: Any, n_excluded: int) -> str:
    if n_excluded:
        return (
            f"No row of class {str(label)!r} remains for training, because rows of weight zero and "
            "all rows of the explained groups are excluded. Choose a different row, or remove "
            "--groups."
        )
    if len(rows) == 1:
        return (
            f"Row {rows[0]} is the only row of class {str(label)!r}, so no row of this class "
            "remains for training. Choose a different row."
        )
    return (
        f"The explained rows include all {len(rows)} rows of class {str(label)!r}, so none remains "
        "for training. Explain fewer of them at a time."
    )


def _class_label(text: str, model: Any) -> Any:
    """Return the class label that matches a text, or the text itself if none matches."""
    if not hasattr(model, "classes_"):
        raise InputError(
            f"--class {text} requires a classification task, but the target is numeric. Remove "
            "--class."
        )
    labels = model.classes_.tolist()
    same_text = [label for label in labels if str(label) == text]
    same_value = [label for label in labels if _has_value(label, text)]
    return [*same_text, *same_value, text][0]


def _has_value(label: Any, text: str) -> bool:
    """Check whether a text equals a numeric or Boolean label, such as ``1.0`` for 1."""
    if isinstance(label, str):
        return False
    if isinstance(label, bool):
        return str(label).lower() == text.lower()
    try:
        return float(text) == label
    except ValueError:
        return False


def _to_text(document: Mapping[str, Any]) -> str:
    """Format explained rows as text: prediction, certainty, and table of the salient features."""
    from ..results.explanation import meaning, quality_sentence

    width = text_width()
    lines = [headline(document), ""]
    for row in document["rows"]:
        lines += [*_row_lines(row, document, width), ""]
    for text in (meaning(document), quality_sentence(document)):
        lines += wrap(text, width)
    return "\n".join(lines)


def _row_lines(row: Mapping[str, Any], document: Mapping[str, Any], width: int) -> list[str]:
    from ..results.explanation import directions, larger_values, row_answer

    answer = row_answer(row, document["table"]["target"])
    lines = wrap(f"{answer.lead} {answer.comparison}", width)
    for text in (answer.certainty, answer.reasons, answer.unusual):
        lines += wrap(text, width)
    supports, opposes = directions(row)
    legend = f"+ {larger_values(row)} {supports}, - {larger_values(row)} {opposes}"
    return [
        *lines,
        "",
        *_feature_lines(row, raw=document["settings"]["raw"]),
        *wrap(legend, width),
    ]


def _feature_lines(row: Mapping[str, Any], *, raw: bool) -> list[str]:
    from ..results.explanation import (
        USUAL_FRACTION,
        format_saliency,
        format_usual,
        format_value,
        position,
    )

    features = row["features"][:_MAX_FEATURES]
    names = [shorten(printable(feature["name"]), _NAME_WIDTH) for feature in features]
    cells = [
        (
            format_saliency(f, abs(features[0]["percent"]), raw=raw),
            shorten(format_value(f), _NAME_WIDTH),
            shorten(format_usual(f), _NAME_WIDTH),
            "" if position(f) == "usual" else position(f),
        )
        for f in features
    ]
    heads = ("saliency", "value", f"{USUAL_FRACTION:.0%} of rows", "")
    name_width = max(len("feature"), *map(display_width, names))
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = []
    for name, texts in zip(("feature", *names), (heads, *cells), strict=True):
        padded = name + " " * (name_width - display_width(name))
        aligned = [f"{text:>{wide}}" for text, wide in zip(texts, widths, strict=True)]
        lines.append("  ".join([padded, *aligned]).rstrip())
    hidden = row["features"][_MAX_FEATURES:]
    if hidden:
        rest = sum(abs(feature["percent"]) for feature in hidden)
        lines.append(f"... and {len(hidden):,} less salient features, {rest:.0f}% in total")
    return lines
