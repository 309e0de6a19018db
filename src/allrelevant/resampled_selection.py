"""Stability of any selector over random subsamples of the rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import has_fit_parameter

from ._params import MAX_REPEATS
from ._sklearn import take_rows
from ._validation import check_groups, is_continuous
from .exceptions import InputError
from .parallel import parallel_map
from .resampling import draw_seeds, random_splits
from .subsets import SelectionStability


def selection_stability(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_splits: int = 20,
    test_size: float = 0.2,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> SelectionStability:
    """Measure how much the selected features depend on the rows.

    Parameters
    ----------
    selector : selector
        Selector with the scikit-learn API. A clone is fitted to each subsample.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Target. Subsamples are stratified if it contains classes.
    n_splits : int, default=20
        Number of subsamples.
    test_size : float, default=0.2
        Fraction of the rows left out of each subsample.
    groups : array-like of shape (n_samples,), default=None
        Group labels of the rows. Rows of the same group stay together. The groups are passed to the
        selector if its ``fit`` accepts them.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of the subsamples.
    n_jobs : int or None, default=None
        Number of worker processes. Does not change the result.

    Returns
    -------
    SelectionStability
        Selection frequency of each feature, and Nogueira's stability measure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from allrelevant import SVMRFE, selection_stability
    >>> X, y = load_wine(return_X_y=True)
    >>> stability = selection_stability(
    ...     SVMRFE(n_features_to_select=3), X, y, n_splits=5, random_state=0)
    >>> stability.frequency.shape, 0 < stability.nogueira <= 1
    ((13,), True)
    """
    if not 2 <= n_splits <= MAX_REPEATS:
        raise InputError(f"n_splits must be from 2 to {MAX_REPEATS} (got {n_splits}).")
    X, y = indexable(X, y)
    row_groups = check_groups(groups, len(y))
    splits = random_splits(
        np.asarray(y),
        n_splits,
        test_size,
        draw_seeds(random_state, 1)[0],
        stratify=not is_continuous(np.asarray(y)),
        row_groups=row_groups,
    )
    rows = [train for train, _ in splits]
    return SelectionStability(
        np.array(parallel_map(partial(_selected, selector, X, y, row_groups), rows, n_jobs=n_jobs))
    )


def _selected(
    selector: Any, X: Any, y: Any, row_groups: NDArray[Any] | None, rows: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Fit a clone of the selector to some rows; return its mask of the selected features."""
    fitted = clone(selector)
    extra = {}
    if row_groups is not None and has_fit_parameter(fitted, "groups"):
        extra["groups"] = row_groups[rows]
    fitted.fit(take_rows(X, rows), take_rows(y, rows), **extra)
    return np.asarray(fitted.get_support(), dtype=bool)
