"""How many directions of the data a metric needs: the scheme of Schulz et al., section 5.1.

For each candidate, the bounds of the learned metric are found with only so many directions kept,
and the mappings that attain them are put into the classifier. Where too few are kept, mappings that
count as the same no longer tell the classes apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ...arrays import Matrix
from ...extras import import_extra
from ...parallel import run_tasks
from ..programs.samples import Fold
from .data_space import data_space
from .judges import Codes, judge_of
from .mapping_bounds import bounds_of_mapping
from .sources import matrix_of

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import DimensionDisplay


@dataclass(frozen=True)
class DimensionCurve:
    """Errors of the mappings at the bounds, by the number of directions kept.

    Attributes
    ----------
    dimensions : ndarray of shape (n_dimensions,)
        Ascending.
    train_error, test_error : ndarray of shape (n_dimensions, n_splits)
        Mean over the mappings that attain the bounds, on the rows trained on and on the others.
    averaged_error : ndarray of shape (n_dimensions, n_splits)
        Of the mean of those mappings, on the others.
    raw_train_error, raw_test_error : ndarray of shape (n_splits,)
        Of the metric as it was learned.
    """

    dimensions: Codes
    train_error: Matrix
    test_error: Matrix
    averaged_error: Matrix
    raw_train_error: Matrix
    raw_test_error: Matrix

    def best(self) -> int:
        """The smallest dimension whose error is within one standard error of the smallest one."""
        mean, spread = self.test_error.mean(axis=1), self._standard_error()
        least = int(mean.argmin())
        good = mean <= mean[least] + spread[least] + 1e-12
        return int(self.dimensions[np.flatnonzero(good)[0]])

    def _standard_error(self) -> Matrix:
        n_splits = self.test_error.shape[1]
        if n_splits < 2:
            return np.zeros(len(self.dimensions))
        return self.test_error.std(axis=1, ddof=1) / np.sqrt(n_splits)

    def to_frame(self) -> pd.DataFrame:
        """One row for each dimension, means over the splits.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``dimension``, with ``train_error``, ``test_error``, ``standard_error`` (of
            the latter) and ``averaged_error``.
        """
        pandas = import_extra("pandas", "cli")
        return pandas.DataFrame(
            {
                "train_error": self.train_error.mean(axis=1),
                "test_error": self.test_error.mean(axis=1),
                "standard_error": self._standard_error(),
                "averaged_error": self.averaged_error.mean(axis=1),
            },
            index=pandas.Index(self.dimensions, name="dimension"),
        )

    def plot(self, **kwargs: Any) -> DimensionDisplay:
        """Draw error against dimension; see :meth:`DimensionDisplay.from_curve`."""
        from ...plots import DimensionDisplay

        return DimensionDisplay.from_curve(self, **kwargs)


def dimension_curve(
    learner: Any,
    X: Matrix,
    y: Codes,
    splits: Sequence[Fold],
    dimensions: Sequence[int] | None,
    slack: float,
    *,
    most: int = 30,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> DimensionCurve:
    """The errors at each dimension.

    Parameters
    ----------
    learner : estimator
        A metric learner, not fitted.
    X : ndarray of shape (n, d)
        Scaled.
    y : ndarray of shape (n,)
        Classes, as codes.
    splits : sequence of (train, test)
    dimensions : sequence of int or None
        Candidates. None: all that the training rows of every split have, up to ``most``.
    slack : float
    most : int, default=30
    n_jobs, progress
        See :func:`allrelevant.parallel.run_tasks`.
    """
    learners = run_tasks(
        lambda split: clone(learner).fit(X[split[0]], y[split[0]]), list(splits), n_jobs=n_jobs
    )
    rank = min(data_space(X[train]).rank for train, _ in splits)
    candidates = np.unique(
        np.arange(1, min(rank, most) + 1)
        if dimensions is None
        else np.minimum(np.asarray(dimensions, dtype=np.intp), rank)
    )

    def errors(task: tuple[int, int]) -> tuple[float, float, float]:
        split, dimension = task
        train, test = splits[split]
        judge = judge_of(learners[split], X[train], y[train])
        directions = data_space(X[train]).first(int(dimension))
        mappings = bounds_of_mapping(matrix_of(learners[split]), directions, slack).at_bounds()
        averaged = mappings.mean(axis=0)

        def test_error(omega: Matrix) -> float:
            return float(np.mean(judge.predict(omega, X[test]) != y[test]))

        return (
            float(np.mean([judge.training_error(omega) for omega in mappings])),
            float(np.mean([test_error(omega) for omega in mappings])),
            test_error(averaged),
        )

    tasks = [(split, int(k)) for split in range(len(splits)) for k in candidates]
    found = run_tasks(errors, tasks, n_jobs=n_jobs, progress=progress)
    train_error, test_error, averaged = np.array(found).T.reshape(3, len(splits), -1)
    raw = np.array(list(_raw_errors(learners, X, y, splits)))
    return DimensionCurve(
        dimensions=candidates,
        train_error=train_error.T,
        test_error=test_error.T,
        averaged_error=averaged.T,
        raw_train_error=raw[:, 0],
        raw_test_error=raw[:, 1],
    )


def _raw_errors(
    learners: Sequence[Any], X: Matrix, y: Codes, splits: Sequence[Fold]
) -> Iterator[tuple[float, float]]:
    for learner, (train, test) in zip(learners, splits, strict=True):
        judge, omega = judge_of(learner, X[train], y[train]), matrix_of(learner)
        wrong = judge.predict(omega, X[test]) != y[test]
        yield judge.training_error(omega), float(np.mean(wrong))
