"""Folds in which every class has its share.

Rows to train on and rows held out, and what must hold of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from ._typing import Rows
from .exceptions import InputError

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def stratified_folds(
    y: NDArray[Any], n_folds: int, seed: int, setting: str = "C as a number"
) -> list[Fold]:
    """Splits of samples of several classes; no more than the smallest class has samples."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise InputError(
            "Cross-validation needs at least two rows of each class, but one class has a single "
            f"row. Give {setting} instead of 'cv'."
        )
    splits = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed)
    return list(splits.split(y, y))


@dataclass(frozen=True)
class Labels:
    """The target as codes 0, 1, 2 and so on, and what splits may depend on.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted.
    codes : ndarray of shape (n_samples,)
    groups : ndarray of shape (n_samples,) or None
    """

    classes: NDArray[Any]
    codes: Rows
    groups: NDArray[Any] | None = None


def split(cv: Any, labels: Labels, rows: Rows, *, name: str = "cv") -> list[tuple[Rows, Rows]]:
    """Split some rows of a table.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        A number of folds keeps the shares of the classes, and groups together if there are any.
    labels : Labels
    rows : ndarray
        The rows to split.
    name : str
        What messages call ``cv``.

    Returns
    -------
    list of (train, test)
        As rows of the table.
    """
    y = labels.classes[labels.codes[rows]]
    groups = None if labels.groups is None else labels.groups[rows]
    if isinstance(cv, Integral):
        _require_enough_rows(int(cv), labels, rows, name)
        cv = StratifiedKFold(int(cv)) if groups is None else StratifiedGroupKFold(int(cv))
    parts = [
        (rows[np.asarray(train)], rows[np.asarray(test)])
        for train, test in _parts(cv, y, groups, name)
    ]
    if not parts:
        raise InputError(f"{name} gives no folds.")
    for number, (train, test) in enumerate(parts):
        _require_classes(train, test, labels, f"Fold {number} of {name}")
    return parts


def _parts(cv: Any, y: NDArray[Any], groups: Any, name: str) -> Iterable[tuple[Any, Any]]:
    if not hasattr(cv, "split"):
        return list(cv)
    try:
        return list(cv.split(np.zeros((len(y), 1)), y, groups))
    except ValueError as error:  # such as more folds than groups
        raise InputError(f"{name} cannot split the rows: {' '.join(str(error).split())}") from error


def _require_enough_rows(n_folds: int, labels: Labels, rows: Rows, name: str) -> None:
    counts = np.bincount(labels.codes[rows], minlength=len(labels.classes))
    rarest = int(counts.argmin())
    if counts[rarest] < n_folds:
        raise InputError(
            f"Class {labels.classes[rarest]!s:.40} has {counts[rarest]} row(s), fewer than the "
            f"{n_folds} folds of {name}: use fewer folds, leave the class out, or give a splitter."
        )


def _require_classes(train: Rows, test: Rows, labels: Labels, what: str) -> None:
    if len(np.unique(labels.codes[train])) < 2:
        raise InputError(f"{what} has a single class to train on: there is nothing to tell apart.")
    if len(test) == 0:
        raise InputError(f"{what} holds no rows out.")
