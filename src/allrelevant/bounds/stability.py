"""How far the bounds move when some of the rows are left out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils import indexable
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from .._optional import display, import_extra
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


# Smaller differences, relative to the largest bound, are rounding and no variation.
EQUALITY_TOL = 1e-9


@dataclass(frozen=True)
class Stability:
    """The bounds of every feature on many random parts of one table.

    Made by :func:`stability`.

    Attributes
    ----------
    feature_names : list of str
        ``x0, x1, ...`` where the table had none.
    lower, upper : ndarray of shape (n_splits, d)
        Ends of the interval of each feature's absolute weight, on each training part.
    baseline : ndarray of shape (n_splits, d)
        Absolute weight of each feature in the baseline.
    relevance : ndarray of shape (n_splits, d)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    test_score : ndarray of shape (n_splits,)
        What ``score`` of the estimator gives on the rows held out.
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
        """How much more the upper bounds vary than the baseline's weights, shape (d,).

        Standard deviation of a feature's upper bounds over that of its weights in the baseline.
        About 1: the bound is as stable as the model it was derived from. Where the baseline's
        weight never varies (the baseline of no split uses the feature, say), there is nothing to
        compare with: infinity if the bounds vary, 1 if they do not vary either. Differences below
        1e-9 of the largest bound count as none.
        """
        rounding = EQUALITY_TOL * float(self.upper.max(initial=0.0))
        bounds, weights = _deviation(self.upper, rounding), _deviation(self.baseline, rounding)
        unlike = np.where(bounds > 0, np.inf, 1.0)
        return np.divide(bounds, weights, out=unlike, where=weights > 0)

    @cached_property
    def share(self) -> Matrix:
        """Share of the splits in which each feature was strong, weak, irrelevant; shape (d, 3)."""
        return np.column_stack([(self.relevance == name).mean(axis=0) for name in CLASSES])

    def to_frame(self) -> pd.DataFrame:
        """Means, standard deviations and shares over the splits, one row a feature.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of ``X``.
        """
        pandas = import_extra("pandas", "cli")
        columns = {}
        for name in ("lower", "upper", "baseline"):
            values = getattr(self, name)
            columns[f"{name}_mean"] = values.mean(axis=0)
            columns[f"{name}_std"] = values.std(axis=0, ddof=1)
        columns["ratio"] = self.ratio
        columns.update(zip(CLASSES, self.share.T, strict=True))
        return pandas.DataFrame(columns, index=pandas.Index(self.feature_names, name="feature"))

    def plot(self, **kwargs: Any) -> StabilityDisplay:
        """Draw mean intervals and shares; see :meth:`StabilityDisplay.from_result`."""
        return display("StabilityDisplay").from_result(self, **kwargs)


class _Split(NamedTuple):
    """Rows to fit on, rows to score on, and the seed of the estimator."""

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
    """Fit an estimator of relevance bounds on many random parts of a table.

    What holds on nearly all of the parts does not hang on a few rows. The splits keep the shares
    of the classes, where there are classes and no groups.

    Parameters
    ----------
    estimator : ClassificationBounds, RegressionBounds, OrdinalBounds or RankingBounds
        It is cloned for each split and stays as it is.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    n_splits : int, default=64
        At least 2.
    test_size : float, default=0.1
        Share of the rows that each split leaves out, and scores on.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row in loss and score. Rows of weight zero count as absent.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group, the recordings of one patient say, are left out together;
        ``test_size`` is then a share of the groups.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits, and of the estimator of each split in place of its own.
    n_jobs : int or None, default=None
        Number of worker processes, -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Stability

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
    >>> found.share.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _check_options(estimator, n_splits, test_size)
    X, y, of_groups = indexable(X, np.asarray(y), None if groups is None else np.asarray(groups))
    weight: Vector | None = None
    if sample_weight is not None:
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        present = np.flatnonzero(weights > 0)
        X, y, weight = safe_indexing(X, present), y[present], weights[present]
        of_groups = None if of_groups is None else of_groups[present]
    fits = parallel_map(
        partial(_fit_split, estimator, X, y, weight),
        _splits(is_classifier(estimator), y, of_groups, n_splits, test_size, random_state),
        n_jobs=n_jobs,
        progress="splits" if verbose else None,
        describe=lambda split: f"the split of seed {split.seed}",
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
            "estimator must be one of relevance bounds, such as ClassificationBounds(), got "
            f"{estimator!r}."
        )
    if not isinstance(n_splits, Integral) or n_splits < 2:
        raise InputError(f"n_splits must be a whole number of at least 2; got {n_splits!r}.")
    if not (isinstance(test_size, Real) and 0.0 < float(test_size) < 1.0):
        raise InputError(
            f"test_size is the share of rows to leave out, between 0 and 1; got {test_size!r}."
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
    estimator: RelevanceBounds, X: Any, y: NDArray[Any], weight: Vector | None, split: _Split
) -> tuple[FeatureBounds, float]:
    """Bounds of the features on the training part, and the score on the other."""
    # In a worker the estimator's own n_jobs counts as 1: workers have no workers.
    est = clone(estimator).set_params(random_state=split.seed, verbose=0)
    of_train, of_test = (
        None if weight is None else weight[rows] for rows in (split.train, split.test)
    )
    est.fit(safe_indexing(X, split.train), y[split.train], of_train)
    score = est.score(safe_indexing(X, split.test), y[split.test], of_test)
    return est._result.features, float(score)


def _deviation(values: Matrix, rounding: float) -> Vector:
    """Standard deviation by column, zero where all differences are rounding."""
    return np.where(np.ptp(values, axis=0) > rounding, values.std(axis=0), 0.0)
