"""Elimination on a subset of the rows, and the nested cross-validation score.

The best cross-validated score along the path is optimistically biased, because the subset was
chosen to maximize it. For the nested score, the whole selection, including its inner folds, uses
only the training rows of an outer fold. It is scored on the held-out rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._params import CriterionName
from .._typing import Rows, Table, Vector
from .._validation import check_varying
from ..checkpoints import Series
from ..exceptions import InputError
from ..parallel import progress_bar, single_threaded
from ..resampling import Labels, cv_splits
from ..terms.scaling import low_variance_features
from .active_features import ActiveFeatures, feature_matrix
from .engine import CRITERIA, Elimination, Evaluators, StepSchedule
from .evaluation import Evaluator
from .history import EliminationHistory, choose_size
from .kernels import Kernel
from .scoring import DecisionScorer, check_scorer
from .svm import ClassWeight, TrainedFold, pairwise_svms


@dataclass(frozen=True)
class SVMSettings:
    """Settings for training and scoring SVMs; ``costs`` are values of C in ascending order."""

    kernel: Kernel
    costs: Vector
    class_weight: ClassWeight
    tol: float
    scorer: DecisionScorer
    n_jobs: int | None = None

    def fold(self, train: Rows, test: Rows, labels: Labels) -> TrainedFold:
        """Return a cross-validation fold, given its training rows and held-out rows."""
        svms = pairwise_svms(train, labels.codes, self.class_weight, self.tol)
        return TrainedFold(svms, test.astype(np.int64))

    def evaluator(self, folds: list[tuple[Rows, Rows]], labels: Labels) -> Evaluator:
        """Return an evaluator for the given folds; raise if the scorer fails on them."""
        trained = [self.fold(train, test, labels) for train, test in folds]
        check_scorer(self.scorer, trained[0])
        return Evaluator(self.kernel, trained, self.costs, self.scorer, self.n_jobs)


@dataclass(frozen=True)
class RowSubset:
    """Rows used for selection, their inner folds, and rows held out of the entire elimination."""

    rows: Rows
    held_out: Rows
    folds: list[tuple[Rows, Rows]] | None
    series: str

    def arrays(self) -> list[Rows]:
        """Return all row indices of the subset and its folds, for the checkpoint fingerprint."""
        folds = [rows for fold in self.folds or [] for rows in fold]
        return [self.rows, self.held_out, *folds]


@dataclass(frozen=True)
class EliminationSetup:
    """Data and settings of an elimination, which can run on any subset of the rows."""

    X: Table
    labels: Labels
    svm: SVMSettings
    criterion: CriterionName
    schedule: StepSchedule
    min_variance: float
    cv: Any

    def all_rows(self) -> RowSubset:
        """Return all rows and their cross-validation folds; no rows are held out."""
        rows = np.arange(len(self.labels.codes))
        return self._row_subset(rows, rows[:0], "all rows", "cv")

    def outer_folds(self, nested_cv: Any) -> Iterator[RowSubset]:
        """Yield the outer folds of the nested score, each with its inner folds.

        ``nested_cv=True`` also uses ``cv`` for the outer folds.
        """
        outer = self.cv if nested_cv is True else nested_cv
        if outer is None:
            raise InputError(
                "nested_cv=True requires cv (got cv=None). Set cv, or pass a number of folds as "
                "nested_cv."
            )
        if not (self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split")):
            raise InputError(
                "nested_cv creates inner folds within each outer fold, so cv cannot be a list of "
                "folds. Pass cv as a number or a splitter."
            )
        rows = np.arange(len(self.labels.codes))
        for number, (train, test) in enumerate(
            cv_splits(outer, self.labels, rows, name="nested_cv")
        ):
            series = f"outer fold {number}"
            yield self._row_subset(train, test, series, f"cv within {series}")

    def _row_subset(self, rows: Rows, held_out: Rows, series: str, name: str) -> RowSubset:
        folds = None if self.cv is None else cv_splits(self.cv, self.labels, rows, name=name)
        return RowSubset(rows, held_out, folds, series)

    def pruned_features(self, rows: Rows) -> list[int]:
        """Return the features with variance at most ``min_variance``; raise if too few remain."""
        pruned = low_variance_features(self.X[rows], self.min_variance)
        n_remaining = self.X.shape[1] - len(pruned)
        n_needed = max(2, self.schedule.min_features_to_select)
        if self.min_variance == 0:
            check_varying(len(pruned), self.X.shape[1])
        if n_remaining < n_needed:
            raise InputError(
                f"At least {n_needed} features must have a variance above min_variance="
                f"{self.min_variance:g} (got {n_remaining}). Reduce min_variance."
            )
        return pruned

    def check(self, subset: RowSubset) -> None:
        """Raise, before any training, if elimination on the given rows would fail."""
        self.pruned_features(subset.rows)
        evaluators = self._evaluators(subset)
        if evaluators.outer is not None:
            check_scorer(evaluators.outer, evaluators.whole)

    def run(self, subset: RowSubset, series: Series, title: str | None) -> EliminationHistory:
        """Run or resume the elimination on the given rows and return its path.

        A progress bar is shown if ``title`` is not None.
        """
        pruned = self.pruned_features(subset.rows)
        kept = np.setdiff1d(np.arange(self.X.shape[1]), pruned)
        kernel = self.svm.kernel
        n_steps = self.schedule.n_steps(len(kept))
        done = max(0, len(series.steps()) - 1)
        # Use one thread, as workers do: the number of threads changes the rounding of sums.
        with single_threaded(), progress_bar(title, n_steps, done=done) as advance:
            columns = feature_matrix(self.X[:, kept], centered=kernel.shift_invariant)
            elimination = Elimination(
                ActiveFeatures(columns, kept, kernel),
                self._evaluators(subset),
                CRITERIA[self.criterion],
                self.schedule,
                float(self.svm.costs[0]),
            )
            steps = elimination.run(series, advance)
        return EliminationHistory(int(self.X.shape[1]), pruned, steps)

    def _evaluators(self, subset: RowSubset) -> Evaluators:
        return Evaluators(
            self.svm.fold(subset.rows, subset.held_out, self.labels),
            self.svm.scorer if len(subset.held_out) else None,
            None if subset.folds is None else self.svm.evaluator(subset.folds, self.labels),
        )


@dataclass(frozen=True)
class NestedScore:
    """Nested cross-validation score: the whole selection is repeated in each outer fold.

    Attributes
    ----------
    n_features_to_select : "best", "one_se" or int
        Selection rule used in each outer fold.
    scores : ndarray of shape (n_outer_folds,)
        Score of the chosen subset on the held-out rows of each outer fold.
    n_features : ndarray of shape (n_outer_folds,)
        Number of features chosen in each outer fold.
    support : ndarray of shape (n_outer_folds, n_features)
        Boolean mask of the features chosen in each outer fold.
    histories : list of EliminationHistory
        Elimination path of each outer fold. ``histories[k].steps[i].outer_score`` is the score of
        subset ``i`` on the held-out rows of outer fold ``k``.
    """

    n_features_to_select: Any
    scores: Vector
    n_features: NDArray[np.int64]
    support: NDArray[np.bool_]
    histories: list[EliminationHistory]

    @property
    def score(self) -> float:
        """Mean score over the outer folds."""
        return float(self.scores.mean())

    @classmethod
    def from_histories(
        cls, histories: list[EliminationHistory], n_features_to_select: Any
    ) -> NestedScore:
        """Return the nested score of a selection rule, given the path of each outer fold."""
        sizes = [
            choose_size(n_features_to_select, history.sizes, history.fold_scores)
            for history in histories
        ]
        chosen = list(zip(histories, sizes, strict=True))
        return cls(
            n_features_to_select,
            np.array([_outer_score(history, size) for history, size in chosen]),
            np.array(sizes),
            np.array([history.support(size) for history, size in chosen]),
            histories,
        )


def _outer_score(history: EliminationHistory, n_features: int) -> float:
    """Return the held-out score of the smallest subset with at least ``n_features`` features."""
    steps = [step for step in history.steps if step.n_features >= n_features]
    score = steps[-1].outer_score if steps else None
    if score is None:
        raise InputError(
            f"An outer fold has no subset of {n_features} features to score. Choose fewer features."
        )
    return score
