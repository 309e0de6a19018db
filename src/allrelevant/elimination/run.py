"""One elimination on some of the rows, and the nested score.

The best of many cross-validated scores is too good: it was chosen for being the best. For the
nested score all of the selection, its inner folds included, sees only the rows that an outer fold
trains on, and is scored on the rows that the fold holds out.
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
    """How subsets are trained and scored; the costs are ascending."""

    kernel: Kernel
    costs: Vector
    class_weight: ClassWeight
    tol: float
    scorer: DecisionScorer
    n_jobs: int | None = None

    def fold(self, train: Rows, test: Rows, labels: Labels) -> TrainedFold:
        """The SVMs to train on some rows, and the rows held out."""
        svms = pairwise_svms(train, labels.codes, self.class_weight, self.tol)
        return TrainedFold(svms, test.astype(np.int64))

    def evaluator(self, folds: list[tuple[Rows, Rows]], labels: Labels) -> Evaluator:
        """Cross-validation over some folds; a scorer that cannot work there is refused."""
        trained = [self.fold(train, test, labels) for train, test in folds]
        check_scorer(self.scorer, trained[0])
        return Evaluator(self.kernel, trained, self.costs, self.scorer, self.n_jobs)


@dataclass(frozen=True)
class RowSubset:
    """Rows to select on, their folds, and rows held out of all of it."""

    rows: Rows
    held_out: Rows
    folds: list[tuple[Rows, Rows]] | None
    series: str

    def arrays(self) -> list[Rows]:
        """All rows and folds, for a fingerprint."""
        folds = [rows for fold in self.folds or [] for rows in fold]
        return [self.rows, self.held_out, *folds]


@dataclass(frozen=True)
class EliminationSetup:
    """Data and settings of an elimination, which can run on any of the rows."""

    X: Table
    labels: Labels
    svm: SVMSettings
    criterion: CriterionName
    schedule: StepSchedule
    min_variance: float
    cv: Any

    def all_rows(self) -> RowSubset:
        """All rows and their folds."""
        rows = np.arange(len(self.labels.codes))
        return self._row_subset(rows, rows[:0], "all rows", "cv")

    def outer_folds(self, nested_cv: Any) -> Iterator[RowSubset]:
        """The outer folds of the nested score, each with inner folds of its own.

        ``nested_cv=True`` takes ``cv`` for the outer folds, too.
        """
        outer = self.cv if nested_cv is True else nested_cv
        if outer is None:
            raise InputError(
                "nested_cv=True needs cv; with cv=None give nested_cv a number of folds."
            )
        if not (self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split")):
            raise InputError(
                "nested_cv needs inner folds that can be made of any rows: give cv as a number or "
                "a splitter, not as a list of folds."
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

    def pruned(self, rows: Rows) -> list[int]:
        """Features that vary too little on some rows; refused if too few are left."""
        pruned = low_variance_features(self.X[rows], self.min_variance)
        n_left = self.X.shape[1] - len(pruned)
        n_needed = max(2, self.schedule.min_features_to_select)
        if self.min_variance == 0:
            check_varying(len(pruned), self.X.shape[1])
        if n_left < n_needed:
            raise InputError(
                f"{n_left} feature(s) vary more than min_variance={self.min_variance:g}, and at "
                f"least {n_needed} are needed: use a smaller one."
            )
        return pruned

    def check(self, subset: RowSubset) -> None:
        """Refuse what would fail later, before the long work starts."""
        self.pruned(subset.rows)
        evaluators = self._evaluators(subset)
        if evaluators.outer is not None:
            check_scorer(evaluators.outer, evaluators.whole)

    def run(self, subset: RowSubset, series: Series, title: str | None) -> EliminationHistory:
        """Eliminate features on some rows; with a title a progress bar is shown."""
        pruned = self.pruned(subset.rows)
        kept = np.setdiff1d(np.arange(self.X.shape[1]), pruned)
        kernel = self.svm.kernel
        n_steps = self.schedule.n_steps(len(kept))
        done = max(0, len(series.steps()) - 1)
        # On one thread, as workers are: how a sum is split shows in its last digits.
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
    """Score of a selection on rows that it never saw.

    Attributes
    ----------
    n_features_to_select : "best", "one_se" or int
        How each outer fold chooses its subset.
    scores : ndarray of shape (n_outer_folds,)
        Score of the chosen subset on the rows held out.
    n_features : ndarray of shape (n_outer_folds,)
    support : ndarray of shape (n_outer_folds, n_features)
        The subset chosen in each outer fold.
    histories : list of EliminationHistory
        ``histories[k].steps[i].outer_score`` is the score of every subset on the rows held out.
    """

    n_features_to_select: Any
    scores: Vector
    n_features: NDArray[np.int64]
    support: NDArray[np.bool_]
    histories: list[EliminationHistory]

    @property
    def score(self) -> float:
        """Mean over the outer folds."""
        return float(self.scores.mean())

    @classmethod
    def from_histories(
        cls, histories: list[EliminationHistory], n_features_to_select: Any
    ) -> NestedScore:
        """Choose a subset in each outer fold, from eliminations that are done."""
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
    """Score of the subset of this size, or of the next larger one if there is none."""
    steps = [step for step in history.steps if step.n_features >= n_features]
    score = steps[-1].outer_score if steps else None
    if score is None:
        raise InputError(f"No outer fold has a subset of {n_features} features to score.")
    return score
