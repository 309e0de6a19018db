"""Cross-validation folds, random splits and permutations of rows, for all estimators.

All seeds are drawn before any work starts (:func:`draw_seeds`). Results therefore depend neither on
the number of workers nor on the order in which they finish.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_random_state

from ._text import one_line
from ._typing import Rows, Vector
from .exceptions import InputError, warn_caller

# Indices of the training rows and of the held-out rows.
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def draw_seeds(random_state: int | np.random.RandomState | None, n_seeds: int) -> list[int]:
    """Draw a given number of random seeds, one for each step of a run."""
    rng = check_random_state(random_state)
    seeds: list[int] = rng.randint(np.iinfo(np.int32).max, size=n_seeds).tolist()
    return seeds


def shuffled_folds(n_samples: int, n_folds: int, seed: int) -> list[Fold]:
    """Return shuffled folds with at least two held-out rows each."""
    splits = KFold(min(n_folds, n_samples // 2), shuffle=True, random_state=seed)
    return list(splits.split(np.zeros(n_samples)))


def stratified_folds(
    y: NDArray[Any], n_folds: int, seed: int, setting: str = "C as a number"
) -> list[Fold]:
    """Return stratified folds, at most as many as the smallest class has rows.

    ``setting`` is the alternative to cross-validation that the error message recommends.
    """
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise InputError(
            "Cross-validation requires at least two rows per class, but one class has a single "
            f"row. Pass {setting} instead of 'cv'."
        )
    splits = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed)
    return list(splits.split(y, y))


def grouped_folds(
    row_groups: NDArray[Any],
    n_folds: int,
    seed: int,
    strata: NDArray[Any] | None = None,
    setting: str = "C as a number",
) -> list[Fold]:
    """Return shuffled folds that keep row groups together, at most one fold per group.

    With ``strata``, such as the class of each row, the folds have similar proportions of each
    stratum, and there are at most as many folds as groups that contain the rarest stratum. The
    training rows of each fold contain every stratum. ``setting`` is as in
    :func:`stratified_folds`.
    """
    codes = np.unique(row_groups, return_inverse=True)[1]
    labels = np.zeros_like(codes) if strata is None else np.unique(strata, return_inverse=True)[1]
    n_labels = int(labels.max()) + 1
    # Number of groups that contain each stratum.
    n_groups = np.bincount(np.unique(np.column_stack([labels, codes]), axis=0)[:, 0])
    splitter = GroupKFold if strata is None else StratifiedGroupKFold
    if n_groups.min() >= 2:
        splits = splitter(min(n_folds, int(n_groups.min())), shuffle=True, random_state=seed)
        folds = [fold for fold in splits.split(codes, labels, codes) if len(fold[1])]
        if all(len(np.unique(labels[train])) == n_labels for train, _ in folds):
            return folds
    what = "groups" if strata is None else "groups per class"
    raise InputError(
        f"Cross-validation that keeps groups of rows together requires at least two {what}, in "
        f"different folds. Pass {setting} instead of 'cv'."
    )


def make_folds(
    n_samples: int,
    n_folds: int,
    seed: int,
    strata: NDArray[Any] | None,
    row_groups: NDArray[Any] | None,
) -> list[Fold]:
    """Return shuffled folds, stratified if there are strata, that keep row groups together."""
    if row_groups is not None:
        return grouped_folds(row_groups, n_folds, seed, strata)
    if strata is None:
        return shuffled_folds(n_samples, n_folds, seed)
    return stratified_folds(strata, n_folds, seed)


def fold_numbers(
    strata: NDArray[Any], n_folds: int, seed: int, row_groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Assign each row to a fold, so that each stratum is spread evenly over the folds.

    Unlike :func:`stratified_folds`, this function accepts strata with a single row. Row groups are
    kept together; the stratum of a group is that of its first row.
    """
    if row_groups is not None:
        _, first, group = np.unique(row_groups, return_index=True, return_inverse=True)
        return fold_numbers(strata[first], n_folds, seed)[group]
    _, codes = np.unique(strata, return_inverse=True)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(codes)), codes))
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def random_splits(
    y: NDArray[Any],
    n_splits: int,
    test_size: float,
    seed: int,
    *,
    stratify: bool,
    row_groups: NDArray[Any] | None = None,
) -> list[Fold]:
    """Return several random splits of all rows into training and test rows.

    With row groups, rows of the same group stay together, and ``stratify`` is ignored.
    """
    if row_groups is not None:
        kind = GroupShuffleSplit
    else:
        kind = StratifiedShuffleSplit if stratify else ShuffleSplit
    splitter = kind(n_splits, test_size=test_size, random_state=seed)
    try:
        return list(splitter.split(np.zeros(len(y)), y, row_groups))
    except ValueError as error:
        raise InputError(
            f"The rows cannot be split with a test fraction of {test_size:g}: "
            f"{one_line(error)}. Use a different fraction, or more rows per class or group."
        ) from error


@dataclass(frozen=True)
class Labels:
    """Target of the rows, and optional row groups and weights.

    ``codes`` are indices into ``classes``, or numeric targets if ``classes`` is empty. ``weight``
    is None if all rows have the same weight.
    """

    classes: NDArray[Any]
    codes: NDArray[Any]
    row_groups: NDArray[Any] | None = None
    weight: Vector | None = None

    @property
    def is_numeric(self) -> bool:
        return len(self.classes) == 0

    @property
    def rows(self) -> Rows:
        """Indices of all rows."""
        return np.arange(len(self.codes))


def cv_splits(
    cv: Any, labels: Labels, rows: Rows, *, seed: int, name: str = "cv"
) -> list[tuple[Rows, Rows]]:
    """Split some rows of a table according to the parameter ``cv``, and check the folds.

    ``cv`` is a number of folds, a splitter or an iterable of (train, test) pairs. For a number,
    folds are shuffled with the seed, stratified by class, and keep row groups together. There are
    fewer folds if the smallest class has fewer rows, or if a fold with a numeric target would have
    a single held-out row. Folds contain row indices of the whole table. Messages refer to the
    parameter as ``name``.
    """
    y = labels.codes[rows] if labels.is_numeric else labels.classes[labels.codes[rows]]
    row_groups = None if labels.row_groups is None else labels.row_groups[rows]
    if isinstance(cv, Integral):
        cv = _shuffled_splitter(int(cv), labels, rows, seed, name)
    folds = [
        (rows[train], rows[test]) for train, test in given_splits(cv, y, row_groups, name=name)
    ]
    for number, (train, _) in enumerate(folds):
        if not labels.is_numeric and len(np.unique(labels.codes[train])) < 2:
            raise InputError(
                f"In fold {number} of {name}, the training rows have a single class. Use "
                "stratified folds, or fewer folds."
            )
    return folds


def given_splits(
    cv: Any, y: NDArray[Any], row_groups: NDArray[Any] | None, *, name: str = "cv"
) -> list[Fold]:
    """Return the folds of a splitter or an iterable of (train, test) pairs, and check them.

    A splitter receives the target and the row groups. Messages refer to the parameter as ``name``.
    """
    rows = np.arange(len(y))
    folds = []
    for number, fold in enumerate(_split(cv, y, row_groups, name)):
        try:
            train, test = (rows[np.asarray(part) if len(part) else []] for part in fold)
        except (IndexError, TypeError, ValueError) as error:
            raise InputError(
                f"Fold {number} of {name} is not a pair of row indices, (train, test), of a table "
                f"with {len(y)} rows: {one_line(error)}."
            ) from error
        if len(test) == 0:
            raise InputError(
                f"Fold {number} of {name} has no test rows. Use folds with at least one test row."
            )
        folds.append((train, test))
    if not folds:
        raise InputError(f"{name} yields no folds. Pass at least one (train, test) pair.")
    return folds


def _shuffled_splitter(n_folds: int, labels: Labels, rows: Rows, seed: int, name: str) -> Any:
    """Return a splitter that shuffles the rows; raise if a class has only one row."""
    if labels.is_numeric and labels.row_groups is None:
        # R2 requires two held-out rows.
        return KFold(max(2, min(n_folds, len(rows) // 2)), shuffle=True, random_state=seed)
    if labels.is_numeric:
        return GroupKFold(n_folds, shuffle=True, random_state=seed)
    counts = np.bincount(labels.codes[rows], minlength=len(labels.classes))
    rarest = int(np.where(counts > 0, counts, len(rows) + 1).argmin())
    if counts[rarest] < 2:
        raise InputError(
            f"Class {_label(labels, rarest)} has only one row ({name}), but {n_folds}-fold "
            "cross-validation requires at least two rows per class. Drop the class, or pass a "
            "splitter."
        )
    kind = StratifiedKFold if labels.row_groups is None else StratifiedGroupKFold
    return kind(min(n_folds, int(counts[rarest])), shuffle=True, random_state=seed)


def _label(labels: Labels, code: int) -> str:
    return repr(str(labels.classes[code])[:40])


def warn_rare_class(labels: Labels, n_folds: Any) -> None:
    """Warn if a class has fewer rows than folds."""
    if labels.is_numeric or not isinstance(n_folds, Integral):
        return
    counts = np.bincount(labels.codes)
    rarest = int(counts.argmin())
    if 2 <= counts[rarest] < int(n_folds):
        warn_caller(
            f"Class {_label(labels, rarest)} has only {counts[rarest]} rows, so there are "
            f"{counts[rarest]} folds instead of {int(n_folds)}, and scores are uncertain. Collect "
            "more rows of this class, or merge it with another class."
        )


def _split(cv: Any, y: NDArray[Any], row_groups: Any, name: str) -> Iterable[tuple[Any, Any]]:
    if not hasattr(cv, "split"):
        return list(cv)
    try:
        return list(cv.split(np.zeros((len(y), 1)), y, row_groups))
    except ValueError as error:  # such as more folds than groups
        raise InputError(
            f"Cannot split the rows with {name}: {one_line(error)}. Use fewer folds, or a "
            "different splitter."
        ) from error


def permute_rows(
    n_samples: int, rng: np.random.RandomState, row_groups: NDArray[Any] | None = None
) -> Rows:
    """Return the row indices in random order.

    Row groups move as a whole and keep their internal order. If they differ in size, the rows of a
    group that moves to a larger place are repeated, and those beyond a smaller place are omitted,
    so that some rows occur more often than others.
    """
    if row_groups is None:
        return rng.permutation(n_samples)
    _, codes, sizes = np.unique(row_groups, return_inverse=True, return_counts=True)
    by_group = np.argsort(codes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    order = np.empty(n_samples, dtype=np.intp)
    for group, moved in enumerate(rng.permutation(len(sizes))):
        rows = np.arange(sizes[group])
        order[by_group[starts[group] + rows]] = by_group[starts[moved] + rows % sizes[moved]]
    return order


def permute_within_groups(
    n_samples: int, rng: np.random.RandomState, row_groups: NDArray[Any]
) -> Rows:
    """Return the row indices in random order, with the rows of each group in its own places."""
    codes = np.unique(row_groups, return_inverse=True)[1]
    order = np.empty(n_samples, dtype=np.intp)
    order[np.argsort(codes, kind="stable")] = np.lexsort((rng.permutation(n_samples), codes))
    return order


def permuted_copies(
    columns: Iterable[Vector],
    rng: np.random.RandomState,
    row_groups: NDArray[Any] | None = None,
) -> list[Vector]:
    """Return randomly permuted copies of the columns; omit copies equal to their original."""
    copies = [(column[permute_rows(len(column), rng, row_groups)], column) for column in columns]
    return [copy for copy, column in copies if not np.array_equal(copy, column)]
