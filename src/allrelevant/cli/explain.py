"""The command ``explain``, which computes the saliency of features for individual rows."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._text import display_width, printable, shorten
from ..exceptions import InputError, RelevanceWarning
from .estimators import fit, model_to_train
from .options import add_options, estimator_options
from .output import collected_notes, plan_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tables.target import Target

N_FOLDS = 5
MIN_TRAINING_ROWS = 4

# Terminal output.
_MAX_FEATURES = 15
_NAME_WIDTH = 40


@click.command(
    help="""Explain the predictions for individual rows of TABLE.

A model is trained on all other rows. The saliency of a feature is the gradient of a gain function
that is large where the prediction is correct. It is positive if a larger value of the feature
supports the class. If the model misclassifies a row, few or no features support its true class, and
the output says so.

TABLE has the same format as for "allrelevant report". Features are first scaled to mean 0 and
variance 1, so saliency is per standard deviation. A numeric target is also scaled, so its unit does
not matter. The score of the model is estimated by 5-fold cross-validation on the training rows.

\b
Examples:
  allrelevant explain patients.csv --target diagnosis --row 17
  allrelevant explain patients.csv --target diagnosis --row 17 --class healthy
  allrelevant explain houses.csv --target price --row 3 --row 8 -o explained.json
"""
)
@click.argument("table")
@add_options("explain")
@click.pass_obj
def explain(
    command: str,
    /,
    table: str,
    target: str,
    rows: tuple[int, ...],
    drop: tuple[str, ...],
    task: str,
    towards: str | None,
    sep: str | None,
    output: str | None,
    quiet: bool,
    standardize: bool,
    **settings: Any,
) -> None:
    """Train a model on all other rows of a table and explain the given rows."""
    outputs = plan_json(output, quiet=quiet, table=table)
    import numpy as np

    from ..results.selection import explanation_document
    from ..saliency import explain as explain_saliency
    from ..tables.features import ColumnRoles, split_features
    from ..tables.reading import read_table
    from ..tables.target import read_target
    from ..terms.scaling import standardize_frame

    with collected_notes() as notes:
        columns = split_features(read_table(table, separator=sep), ColumnRoles(target, drop))
        X = standardize_frame(columns.X) if standardize else columns.X
        indices = _row_indices(rows, len(X))
        label = read_target(columns.y, target, task)
        outputs.note(label.note)
        _check_training_classes(label, rows, towards=towards)

        others = np.setdiff1d(np.arange(len(X)), indices)
        scale = label.scale(others)
        X_train, y_train = X.iloc[others].to_numpy(), scale.apply(label.y[others])
        flags = estimator_options(settings).user_flags
        model = fit(model_to_train(task=label.task, user_flags=flags, **settings), X_train, y_train)
        class_label = None if towards is None else _class_label(towards, model)
        y_true = scale.apply(label.y[indices]) if class_label is None else None
        explanation = explain_saliency(model, X.iloc[indices], y_true, target=class_label)
        quality = cross_validate(model, X_train, y_train, seed=settings["random_state"])
        if quality.is_poor:
            warnings.warn(
                "The model does no better than a constant prediction, so its explanations say "
                "nothing about the target. Do not interpret them.",
                RelevanceWarning,
                stacklevel=1,
            )
        document = explanation_document(
            replace(  # back to the units of the table
                explanation,
                targets=scale.undo(explanation.targets),
                predicted=scale.undo(explanation.predicted),
            ),
            columns.X.iloc[indices],
            rows,
            table=Path(table).name,
            target=target,
            model=model,
            quality=asdict(quality),
            settings={
                "task": label.task,
                "standardize": standardize,
                "standardize_target": not label.is_classification,
                **settings,
            },
            warnings=notes,
            command=command,
        )
        outputs.write(document, lambda document: "\n".join([quality.line, *_row_lines(document)]))


def _row_indices(rows: Sequence[int], n_rows: int) -> list[int]:
    """Convert row numbers to zero-based indices; raise if too few rows remain for training."""
    for row in rows:
        if row > n_rows:
            raise InputError(
                f"Row {row} is out of range: the table has {n_rows} rows. Use --row 1 to {n_rows}."
            )
    if len(set(rows)) > n_rows - MIN_TRAINING_ROWS:
        raise InputError(
            f"Only {n_rows - len(set(rows))} of {n_rows} rows remain for training, because the "
            "explained rows are excluded. Explain fewer rows at a time."
        )
    return [row - 1 for row in rows]


def _check_training_classes(target: Target, rows: Collection[int], *, towards: str | None) -> None:
    """Raise if a class to explain has no training row once ``rows`` are excluded.

    The class to explain is ``towards``, or by default the class of each row.
    """
    if not target.is_classification:
        return
    labels = target.y.tolist()
    remaining = {label for index, label in enumerate(labels) if index + 1 not in set(rows)}
    for row in rows:
        label = labels[row - 1]
        if label not in remaining and (towards is None or len(remaining) < 2):
            class_rows = [index + 1 for index, other in enumerate(labels) if other == label]
            raise InputError(_no_training_row_message(class_rows, label))


def _no_training_row_message(rows: list[int], label: Any) -> str:
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


@dataclass(frozen=True)
class Quality:
    """Cross-validated score of a model, computed from the held-out predictions of all folds.

    ``dummy_score`` is the score of a constant prediction: the most frequent class, or the mean.
    """

    name: str
    score: float
    dummy_score: float
    n_folds: int
    n_rows: int

    @property
    def is_poor(self) -> bool:
        """Whether the model is no better than a constant prediction."""
        return self.score <= self.dummy_score

    @property
    def line(self) -> str:
        """Score of the model and of a constant prediction, as one line of text."""
        return (
            f"Model: {self.name} {self.score:.3f} on the other {self.n_rows:,} rows "
            f"({self.n_folds}-fold cross-validation). A constant prediction reaches "
            f"{self.dummy_score:.3f}."
        )


def cross_validate(model: Any, X: NDArray[Any], y: NDArray[Any], *, seed: int) -> Quality:
    """Estimate the score of a model by cross-validation.

    Models with balanced class weights are scored by balanced accuracy.
    """
    import numpy as np
    from sklearn.base import clone, is_classifier

    from ..resampling import fold_numbers

    folds = fold_numbers(y if is_classifier(model) else np.zeros(len(y)), N_FOLDS, seed)
    predicted = y.copy()
    for fold in np.unique(folds):
        held_out = folds == fold
        y_train = y[~held_out]
        # The training rows have a single class if the only row of the other class is held out.
        predicted[held_out] = (
            y_train[0]
            if len(np.unique(y_train)) == 1
            else clone(model).fit(X[~held_out], y_train).predict(X[held_out])
        )
    name, score, dummy_score = _score(model, y, predicted)
    return Quality(name, float(score), dummy_score, len(np.unique(folds)), len(y))


def _score(model: Any, y: NDArray[Any], predicted: NDArray[Any]) -> tuple[str, float, float]:
    """Return the name of the score, the score, and the score of a constant prediction."""
    import numpy as np
    from sklearn.base import is_classifier
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score

    if not is_classifier(model):
        return "R2", r2_score(y, predicted), 0.0
    _, counts = np.unique(y, return_counts=True)
    params = model.get_params()
    if params.get("class_weight") == "balanced" or params.get("balanced"):
        return "balanced accuracy", balanced_accuracy_score(y, predicted), 1 / len(counts)
    return "accuracy", accuracy_score(y, predicted), counts.max() / len(y)


def _row_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for row in document["rows"]:
        features = row["features"][:_MAX_FEATURES]
        names = [shorten(printable(feature["name"]), _NAME_WIDTH) for feature in features]
        longest = max(len("feature"), *map(display_width, names))
        lines += [
            f"Row {row['row']}: {printable(row['note'])}",
            f"  {'feature':{longest}}  {'value':>10}  {'saliency':>10}",
        ]
        for name, feature in zip(names, features, strict=True):
            padded = name + " " * (longest - display_width(name))
            value, saliency = feature["value"], feature["saliency"]
            lines.append(f"  {padded}  {value:>10.4g}  {saliency:>+10.3g}")
        hidden = len(row["features"]) - len(features)
        if hidden:
            lines.append(f"  ... and {hidden:,} less salient features.")
    return lines
