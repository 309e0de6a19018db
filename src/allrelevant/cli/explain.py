"""How good a model is that is about to be explained.

From a table to what decides in one of its rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._text import display_width, printable, shorten
from ..exceptions import InputError, RelevanceWarning
from ..tables.target import NoScaling, StandardScaling, read_target, require_classes_left
from .estimators import trainer
from .output import Outputs, as_json, echo
from .report import fitted
from .select import standardized

if TYPE_CHECKING:
    import pandas as pd

    from ..saliency import Explanation


_FOLDS = 5


@dataclass(frozen=True)
class Quality:
    """A score on rows that were held out, beside that of always guessing the same.

    Attributes
    ----------
    name : {"accuracy", "balanced accuracy", "R2"}
    score : float
        Of the predictions of all folds together.
    constant : float
        Of the most frequent class, or of the mean.
    n_folds, n_rows : int
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


def cross_validated(model: Any, X: NDArray[Any], y: NDArray[Any], *, seed: int) -> Quality:
    """Train clones of a model on most rows, and score what they make of the others.

    Parameters
    ----------
    model : estimator
        For classes or numbers. One that balances classes is scored so that each has the same say.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    seed : int
        Of the folds.
    """
    from sklearn.base import is_classifier

    classes = is_classifier(model)
    folds = _folds(y if classes else np.zeros(len(y)), seed)
    predicted = y.copy()
    for fold in np.unique(folds):
        held_out = folds == fold
        predicted[held_out] = _predicted(model, X[~held_out], y[~held_out], X[held_out])
    name, score, constant = (
        _of_classes(y, predicted, _balances(model)) if classes else _of_numbers(y, predicted)
    )
    return Quality(name, float(score), constant, len(np.unique(folds)), len(y))


def _folds(strata: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """The fold of each row: those of a stratum are shuffled and dealt out one by one."""
    _, codes = np.unique(strata, return_inverse=True)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(codes)), codes))
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % _FOLDS
    return folds


def _predicted(model: Any, X: NDArray[Any], y: NDArray[Any], new: NDArray[Any]) -> Any:
    from sklearn.base import clone

    if len(np.unique(y)) == 1:  # the only row of the other class is held out
        return y[0]
    return clone(model).fit(X, y).predict(new)


def _balances(model: Any) -> bool:
    settings = model.get_params()
    return settings.get("class_weight") == "balanced" or bool(settings.get("balanced"))


def _of_classes(
    y: NDArray[Any], predicted: NDArray[Any], balanced: bool
) -> tuple[str, float, float]:
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    _, counts = np.unique(y, return_counts=True)
    if balanced:
        return "balanced accuracy", balanced_accuracy_score(y, predicted), 1 / len(counts)
    return "accuracy", accuracy_score(y, predicted), counts.max() / len(y)


def _of_numbers(y: NDArray[Any], predicted: NDArray[Any]) -> tuple[str, float, float]:
    from sklearn.metrics import r2_score

    return "R2", r2_score(y, predicted), 0.0


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
    from ..results import explanation_document
    from ..saliency import explain
    from ..tables import split_target

    X, y = split_target(frame, target, drop)
    places = _places(rows, len(X))
    found = read_target(y, target, task)
    if found.note and not outputs.quiet:
        echo(found.note, err=True)
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
    summary = explanation_document(
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
    explanation: Explanation, scale: NoScaling | StandardScaling
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
        echo("\n".join([quality.line, *rows]))
    if outputs.json is not None and not outputs.quiet:
        echo(f"Result written to {outputs.json}")


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
