"""A selection as a value: data and settings, from which any part of the rows can be run.

An honest estimate: the whole selection inside outer folds, judged where it never looked.

The best of many cross-validated scores is too good: it was chosen for being the best. Here all of
the selection, its inner folds included, sees only the rows that an outer fold trains on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from .._typing import Rows, Table, Vector
from ..exceptions import InputError
from ..parallel.api import progress_bar
from ..resampling import Labels, cv_splits
from ..terms.scaling import low_variance_features
from .active_features import ActiveFeatures, feature_matrix
from .engine import CRITERIA, Elimination, Evaluators, StepSchedule
from .evaluation import Evaluator
from .history import EliminationHistory, Series, chosen_size
from .kernels import Kernel
from .scoring import DecisionScorer, require_usable
from .svm import ClassWeight, TrainedFold, folds_of, pairwise_svms


@dataclass(frozen=True)
class SVMSettings:
    """How subsets are trained and judged.

    Attributes
    ----------
    kernel : Kernel
    costs : ndarray of shape (n_costs,)
        Ascending.
    class_weight : ClassWeight
    tol : float
    score : Score
    n_jobs : int or None
    """

    kernel: Kernel
    costs: Vector
    class_weight: ClassWeight
    tol: float
    score: DecisionScorer
    n_jobs: int | None = None

    def evaluator(self, parts: list[tuple[Rows, Rows]], labels: Labels) -> Evaluator:
        """Cross-validation over some parts; a score that cannot work there is refused."""
        folds = folds_of(parts, labels, self.class_weight, self.tol)
        require_usable(self.score, folds[0])
        return Evaluator(self.kernel, folds, self.costs, self.score, self.n_jobs)


@dataclass(frozen=True)
class RowSubset:
    """Rows to select on, their folds, and rows held out of all of it."""

    rows: Rows
    held_out: Rows
    folds: list[tuple[Rows, Rows]] | None
    series: str


@dataclass(frozen=True)
class EliminationSetup:
    """A whole elimination, ready to run.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    labels : Labels
    machinery : Machinery
    criterion : str
    pace : Pace
    min_variance : float
    cv : object or None
    """

    X: Table
    labels: Labels
    machinery: SVMSettings
    criterion: str
    pace: StepSchedule
    min_variance: float
    cv: Any

    def whole(self) -> RowSubset:
        """All rows."""
        rows = np.arange(len(self.labels.codes))
        return self.part(rows, rows[:0], "all rows", "cv")

    def part(self, rows: Rows, held_out: Rows, series: str, name: str) -> RowSubset:
        """Some of the rows, and their folds; what cannot be split is refused."""
        folds = None if self.cv is None else cv_splits(self.cv, self.labels, rows, name=name)
        return RowSubset(rows, held_out, folds, series)

    def pruned(self, rows: Rows) -> list[int]:
        """Features that vary too little on some rows; at least as many as asked for are left."""
        pruned = low_variance_features(self.X[rows], self.min_variance)
        n_left = self.X.shape[1] - len(pruned)
        if n_left == 0 and self.min_variance == 0:
            raise InputError("Every column is constant: there is no feature to tell rows apart.")
        if n_left < max(2, self.pace.min_features_to_select):
            raise InputError(
                f"{n_left} feature(s) vary more than min_variance={self.min_variance:g}, and at "
                f"least {max(2, self.pace.min_features_to_select)} are needed: use a smaller one."
            )
        return pruned

    def require_usable(self, part: RowSubset) -> None:
        """Refuse what would fail later, before the long work starts."""
        self.pruned(part.rows)
        judges = self._judges(part)
        if judges.outer is not None:
            require_usable(judges.outer, judges.whole)

    def run(self, part: RowSubset, recording: Series, title: str | None) -> EliminationHistory:
        """Eliminate on some rows.

        Parameters
        ----------
        part : Part
        recording : Recording
        title : str or None
            Of a progress bar; None shows none.
        """
        pruned = self.pruned(part.rows)
        n_start = self.X.shape[1] - len(pruned)
        done = max(0, len(recording.steps()) - 1)
        # On one thread, as workers are: how a sum is split shows in its last digits.
        with (
            threadpool_limits(1),
            progress_bar(title, self.pace.n_steps(n_start), done=done) as advance,
        ):
            steps = self._elimination(part, pruned).run(recording, advance)
        return EliminationHistory(int(self.X.shape[1]), pruned, steps)

    def _elimination(self, part: RowSubset, pruned: list[int]) -> Elimination:
        kept = np.setdiff1d(np.arange(self.X.shape[1]), pruned)
        kernel = self.machinery.kernel
        columns = feature_matrix(self.X[:, kept], centred=kernel.shift_invariant)
        return Elimination(
            ActiveFeatures(columns, kept, kernel),
            self._judges(part),
            CRITERIA[self.criterion],
            self.pace,
            float(self.machinery.costs[0]),
        )

    def _judges(self, part: RowSubset) -> Evaluators:
        machinery, labels = self.machinery, self.labels
        return Evaluators(
            TrainedFold(
                pairwise_svms(part.rows, labels.codes, machinery.class_weight, machinery.tol),
                part.held_out,
            ),
            machinery.score if len(part.held_out) else None,
            None if part.folds is None else machinery.evaluator(part.folds, labels),
        )


@dataclass(frozen=True)
class NestedScore:
    """What a selection is worth on rows that it never saw.

    Attributes
    ----------
    n_features_to_select : "best", "one_se" or int
        How each outer fold chooses its subset.
    scores : ndarray of shape (n_outer_folds,)
        Score of the chosen subset on the rows held out.
    n_features : ndarray of shape (n_outer_folds,)
    support : ndarray of shape (n_outer_folds, n_features)
        The subset chosen in each outer fold.
    traces : list of Trace
        ``traces[k].steps[i].outer_score`` is the score of every subset on the rows held out.
    """

    n_features_to_select: Any
    scores: Vector
    n_features: NDArray[np.int64]
    support: NDArray[np.bool_]
    traces: list[EliminationHistory]

    @property
    def score(self) -> float:
        """Mean over the outer folds."""
        return float(self.scores.mean())

    @classmethod
    def of(cls, traces: list[EliminationHistory], n_features_to_select: Any) -> NestedScore:
        """Choose in each outer fold by a n_features_to_select, from runs that are done."""
        sizes = [
            chosen_size(n_features_to_select, trace.sizes, trace.fold_scores) for trace in traces
        ]
        return cls(
            n_features_to_select,
            np.array([_outer_score(trace, n) for trace, n in zip(traces, sizes, strict=True)]),
            np.array(sizes),
            np.array([trace.support(n) for trace, n in zip(traces, sizes, strict=True)]),
            traces,
        )


def _outer_score(trace: EliminationHistory, n_features: int) -> float:
    """Of the subset of this size, or of the next larger one that was come by."""
    fitting = [step for step in trace.steps if step.n_features >= n_features]
    score = fitting[-1].outer_score if fitting else None
    if score is None:
        raise InputError(f"No outer fold has a subset of {n_features} features to judge.")
    return score


def outer_parts(plan: EliminationSetup, nested: Any) -> Iterator[RowSubset]:
    """The parts of an honest estimate, each with inner folds of its own.

    Parameters
    ----------
    plan : Plan
    nested : True, int, or splitter
        True takes the inner ``cv`` for the outer folds, too.
    """
    outer = plan.cv if nested is True else nested
    inner_is_fixed = plan.cv is not None and _is_fixed(plan.cv)
    if outer is None:
        raise InputError("nested_cv=True needs cv; with cv=None give nested a number of folds.")
    if inner_is_fixed:
        raise InputError(
            "nested_cv needs inner folds that can be made of any rows: give cv as a number or a "
            "splitter, not as a list of folds."
        )
    rows = np.arange(len(plan.labels.codes))
    for number, (train, test) in enumerate(cv_splits(outer, plan.labels, rows, name="nested_cv")):
        series = f"outer fold {number}"
        yield plan.part(train, test, series, f"cv within {series}")


def _is_fixed(cv: Any) -> bool:
    return not isinstance(cv, int | np.integer) and not hasattr(cv, "split")


def fold_rows(parts: list[RowSubset]) -> list[Any]:
    """All rows of all folds, for a fingerprint."""
    pieces: list[Any] = []
    for part in parts:
        pieces += [part.rows, part.held_out]
        for train, test in part.folds or []:
            pieces += [train, test]
    return pieces
