"""The command ``explain``: what decides in some rows of a table, and how good the model is."""

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
from .options import estimator_options, options_of
from .output import collected_notes, plan_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tables.target import Target

N_FOLDS = 5
MIN_TRAINING_ROWS = 4

# On the terminal.
_MAX_FEATURES = 15
_NAME_WIDTH = 40


@click.command(
    help="""Show which features decide in one row of TABLE.

A model is trained on all other rows. The saliency of a feature is the gradient of a gain, high
where the prediction is right: with signs, positive where a larger value would speak more for the
class. A row that the model gets wrong shows close to nothing, and that is said.

TABLE is read as by "allrelevant report". Columns are brought to mean 0 and variance 1 first, so
that saliency is per standard deviation, and so is a target that is a number: its unit does not
matter. How good the model is, is measured on the other rows in 5 folds.

\b
Examples:
  allrelevant explain patients.csv --target diagnosis --row 17
  allrelevant explain patients.csv --target diagnosis --row 17 --class healthy
  allrelevant explain houses.csv --target price --row 3 --row 8 -o explained.json
"""
)
@click.argument("table")
@options_of("explain")
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
    """Train on all other rows of a table from a file, and explain these."""
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
        places = _places(rows, len(X))
        label = read_target(columns.y, target, task)
        outputs.note(label.note)
        _require_classes_left(label, rows, towards=towards)

        others = np.setdiff1d(np.arange(len(X)), places)
        scale = label.scale(others)
        X_train, y_train = X.iloc[others].to_numpy(), scale.apply(label.y[others])
        given = estimator_options(settings).given
        model = fit(model_to_train(task=label.task, given=given, **settings), X_train, y_train)
        class_label = None if towards is None else _class_label(towards, model)
        y_true = scale.apply(label.y[places]) if class_label is None else None
        explanation = explain_saliency(model, X.iloc[places], y_true, target=class_label)
        quality = cross_validate(model, X_train, y_train, seed=settings["random_state"])
        if quality.is_poor:
            warnings.warn(
                "The model is no better than always guessing the same: what decides in it says "
                "nothing about the target.",
                RelevanceWarning,
                stacklevel=1,
            )
        document = explanation_document(
            replace(  # in units of the table
                explanation,
                targets=scale.undo(explanation.targets),
                predicted=scale.undo(explanation.predicted),
            ),
            columns.X.iloc[places],
            rows,
            table=Path(table).name,
            target=target,
            model=model,
            quality=asdict(quality),
            settings={
                "task": label.task,
                "standardize": standardize,
                "standardize_target": not label.holds_classes,
                **settings,
            },
            warnings=notes,
            command=command,
        )
        outputs.write(document, lambda document: "\n".join([quality.line, *_row_lines(document)]))


def _places(rows: Sequence[int], n_rows: int) -> list[int]:
    for row in rows:
        if row > n_rows:
            raise InputError(f"There is no row {row}: the table has {n_rows}.")
    if len(set(rows)) > n_rows - MIN_TRAINING_ROWS:
        raise InputError(
            f"The model is trained on the rows that are not explained, and of {n_rows} only "
            f"{n_rows - len(set(rows))} are left: explain fewer."
        )
    return [row - 1 for row in rows]


def _require_classes_left(target: Target, rows: Collection[int], *, towards: str | None) -> None:
    """Refuse rows without which a class that is needed has no row to train on.

    Explained is the class of each row, or the one that is given by ``towards``.
    """
    if not target.holds_classes:
        return
    labels = target.y.tolist()
    left = {label for place, label in enumerate(labels) if place + 1 not in set(rows)}
    for row in rows:
        label = labels[row - 1]
        if label not in left and (towards is None or len(left) < 2):
            of_class = [place + 1 for place, other in enumerate(labels) if other == label]
            raise InputError(_no_row_left(of_class, label))


def _no_row_left(rows: list[int], label: Any) -> str:
    if len(rows) == 1:
        return (
            f"Row {rows[0]} is the only one of its class {str(label)!r}: without it, no row of the "
            "class is left to train on, so that it cannot be explained."
        )
    return (
        f"These are all {len(rows)} rows of the class {str(label)!r}: no other is left to train "
        "on. Explain fewer of them at a time."
    )


def _class_label(text: str, model: Any) -> Any:
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


@dataclass(frozen=True)
class Quality:
    """A score of the predictions for rows that were held out, of all folds together.

    Beside it stands the score of a constant guess: the most frequent class, or the mean.
    """

    name: str
    score: float
    constant: float
    n_folds: int
    n_rows: int

    @property
    def is_poor(self) -> bool:
        """Whether a constant guess is as good."""
        return self.score <= self.constant

    @property
    def line(self) -> str:
        """In one line."""
        return (
            f"Model: {self.name} {self.score:.3f} on the other {self.n_rows:,} rows "
            f"({self.n_folds} folds); a constant guess has {self.constant:.3f}."
        )


def cross_validate(model: Any, X: NDArray[Any], y: NDArray[Any], *, seed: int) -> Quality:
    """Train clones of a model on most rows, and score what they make of the others.

    A model that balances classes is scored so that each class has the same say.
    """
    import numpy as np
    from sklearn.base import clone, is_classifier

    from ..resampling import fold_numbers

    folds = fold_numbers(y if is_classifier(model) else np.zeros(len(y)), N_FOLDS, seed)
    predicted = y.copy()
    for fold in np.unique(folds):
        held_out = folds == fold
        y_train = y[~held_out]
        # A single class is left where the only row of the other one is held out.
        predicted[held_out] = (
            y_train[0]
            if len(np.unique(y_train)) == 1
            else clone(model).fit(X[~held_out], y_train).predict(X[held_out])
        )
    name, score, constant = _score(model, y, predicted)
    return Quality(name, float(score), constant, len(np.unique(folds)), len(y))


def _score(model: Any, y: NDArray[Any], predicted: NDArray[Any]) -> tuple[str, float, float]:
    """Name of a score, the score of predictions, and that of a constant guess."""
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
