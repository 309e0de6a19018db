"""Stability of the bounds over random subsamples of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from .._optional import display, import_extra
from .._params import MAX_REPEATS
from .._sklearn import take_rows
from .._typing import Matrix, Vector
from ..exceptions import InputError
from ..parallel import parallel_map
from ..relevance import CLASSES
from ..resampling import draw_seeds, random_splits
from ._base import RelevanceBounds
from .result import FeatureBounds

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import StabilityDisplay


# Differences below this, relative to the largest bound, count as rounding errors.
EQUALITY_TOL = 1e-9


@dataclass(frozen=True)
class Stability:
    """Bounds of every feature on many random splits of one table.

    Returned by :func:`stability`.

    Attributes
    ----------
    feature_names : list of str
        Feature names; ``x0, x1, ...`` if the table had none.
    lower, upper : ndarray of shape (n_splits, d)
        Bounds of each feature's absolute weight in each split.
    baseline : ndarray of shape (n_splits, d)
        Absolute weight of each feature in the baseline.
    relevance : ndarray of shape (n_splits, d)
        ``"strong"``, ``"weak"``, ``"unconfirmed"`` or ``"irrelevant"``.
    test_score : ndarray of shape (n_splits,)
        Score of the estimator on the held-out samples: its ``scoring`` if set, else its ``score``.
    """

    feature_names: list[str]
    lower: Matrix
    upper: Matrix
    baseline: Matrix
    relevance: NDArray[np.str_]
    test_score: Vector

    @property
    def n_splits(self) -> int:
        return len(self.upper)

    @cached_property
    def ratio(self) -> Vector:
        """Standard deviation of upper bounds divided by that of baseline weights, shape (d,).

        At about 1, the upper bound is as stable as the baseline. If the baseline weight does not
        vary, for instance because no baseline uses the feature, the ratio is infinite if the bounds
        vary, and 1 if they do not. Differences below 1e-9 of the largest bound are ignored.
        """
        rounding = EQUALITY_TOL * float(self.upper.max(initial=0.0))
        bounds, weights = _std(self.upper, rounding), _std(self.baseline, rounding)
        fallback = np.where(bounds > 0, np.inf, 1.0)
        return np.divide(bounds, weights, out=fallback, where=weights > 0)

    @cached_property
    def frequency(self) -> Matrix:
        """Fraction of splits in which each feature has each relevance class, shape (d, 4)."""
        return np.column_stack([(self.relevance == name).mean(axis=0) for name in CLASSES])

    def to_frame(self) -> pd.DataFrame:
        """Return means, standard deviations and relevance frequencies, with one row per feature.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of ``X``.
        """
        pandas = import_extra("pandas", "pandas")

        columns = {}
        for name in ("lower", "upper", "baseline"):
            values = getattr(self, name)
            columns[f"{name}_mean"] = values.mean(axis=0)
            columns[f"{name}_std"] = values.std(axis=0, ddof=1)
        columns["ratio"] = self.ratio
        columns.update(zip(CLASSES, self.frequency.T, strict=True))
        return pandas.DataFrame(columns, index=pandas.Index(self.feature_names, name="feature"))

    def plot(self, **kwargs: Any) -> StabilityDisplay:
        """Plot intervals and relevance frequencies; see :meth:`StabilityDisplay.from_result`."""
        return display("StabilityDisplay").from_result(self, **kwargs)


class _Split(NamedTuple):
    """Random split: training samples, held-out samples and the seed of the estimator."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seed: int


def stability(
    estimator: RelevanceBounds,
    X: Any,
    y: Any,
    *,
    n_splits: int = 64,
    test_size: float = 0.1,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Stability:
    """Fit a relevance bounds estimator on many random splits of a table.

    A result that holds on nearly all splits does not depend on a few samples. For classifiers
    without ``groups``, the splits are stratified by class.

    Parameters
    ----------
    estimator : ClassificationBounds, RegressionBounds, OrdinalBounds or RankingBounds
        Estimator to fit. It is cloned for each split and not modified.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Target values.
    n_splits : int, default=64
        Number of splits, at least 2.
    test_size : float, default=0.1
        Fraction of the samples that each split holds out for scoring.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each sample in loss and score. Samples of weight zero are ignored.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Samples of one group, such as the recordings of one patient, are held
        out together and never separated by a fit; ``test_size`` is then the fraction of groups.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits. It also replaces the seed of the estimator in each split.
    n_jobs : int or None, default=None
        Number of worker processes (-1: all cores). Does not change the result.
    verbose : int, default=0
        If positive, show a progress bar.

    Returns
    -------
    Stability
        Bounds, relevance classes and scores for each split.

    Examples
    --------
    >>> from allrelevant import ClassificationBounds, stability
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> found = stability(
    ...     ClassificationBounds(), data.X, data.y, n_splits=4, random_state=0)
    >>> found.upper.shape
    (4, 4)
    >>> found.frequency.tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    _check_options(estimator, n_splits, test_size)
    X, y, row_groups = indexable(X, np.asarray(y), None if groups is None else np.asarray(groups))
    weight: Vector | None = None
    if sample_weight is not None:
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = np.flatnonzero(weights > 0)
        X, y, weight = take_rows(X, present), y[present], weights[present]
        row_groups = None if row_groups is None else row_groups[present]
    fits = parallel_map(
        partial(_fit_split, estimator, X, y, weight, row_groups),
        _splits(is_classifier(estimator), y, row_groups, n_splits, test_size, random_state),
        n_jobs=n_jobs,
        progress="splits" if verbose else None,
        describe=lambda split: f"the split with seed {split.seed}",
    )
    features, scores = zip(*fits, strict=True)
    return Stability(
        feature_names=features[0].names,
        lower=np.array([bounds.interval[:, 0] for bounds in features]),
        upper=np.array([bounds.interval[:, 1] for bounds in features]),
        baseline=np.abs([bounds.baseline for bounds in features]),
        relevance=np.array([bounds.relevance for bounds in features]),
        test_score=np.array(scores),
    )


def _check_options(estimator: Any, n_splits: Any, test_size: Any) -> None:
    if not isinstance(estimator, RelevanceBounds):
        raise InputError(
            "stability requires a relevance bounds estimator such as ClassificationBounds() "
            f"(got {estimator!r})."
        )
    cv = estimator.cv
    if not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split")):
        raise InputError(
            "stability fits the estimator to random subsamples, so its cv cannot be a list of "
            "splits of the whole table. Pass cv as a number or a splitter."
        )
    if not isinstance(n_splits, Integral) or not 2 <= int(n_splits) <= MAX_REPEATS:
        raise InputError(f"n_splits must be an integer from 2 to {MAX_REPEATS} (got {n_splits!r}).")
    if not (isinstance(test_size, Real) and 0.0 < float(test_size) < 1.0):
        raise InputError(
            "test_size is the fraction of rows to hold out and must be between 0 and 1 "
            f"(got {test_size!r})."
        )


def _splits(
    stratify: bool,
    y: NDArray[Any],
    row_groups: NDArray[Any] | None,
    n_splits: int,
    test_size: float,
    random_state: int | np.random.RandomState | None,
) -> list[_Split]:
    split_seed, *seeds = draw_seeds(random_state, 1 + n_splits)
    parts = random_splits(
        y, n_splits, test_size, split_seed, stratify=stratify, row_groups=row_groups
    )
    return [_Split(train, test, seed) for (train, test), seed in zip(parts, seeds, strict=True)]


def _fit_split(
    estimator: RelevanceBounds,
    X: Any,
    y: NDArray[Any],
    weight: Vector | None,
    row_groups: NDArray[Any] | None,
    split: _Split,
) -> tuple[FeatureBounds, float]:
    """Compute the bounds on the training samples and the score on the held-out samples."""
    # In a worker process, the estimator's n_jobs counts as 1.
    est = clone(estimator).set_params(random_state=split.seed, verbose=0)
    train_weight, test_weight = (
        None if weight is None else weight[rows] for rows in (split.train, split.test)
    )
    train_groups = None if row_groups is None else row_groups[split.train]
    est.fit(take_rows(X, split.train), y[split.train], train_weight, groups=train_groups)
    score = est._score(take_rows(X, split.test), y[split.test], test_weight)
    return est._result.features, score


def _std(values: Matrix, rounding: float) -> Vector:
    """Compute the standard deviation of each column, with rounding errors counted as zero."""
    return np.where(np.ptp(values, axis=0) > rounding, values.std(axis=0), 0.0)
