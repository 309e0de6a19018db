"""Eliminations on all rows, in each fold, and in each outer fold of nested cross-validation.

The best score along a path is optimistically biased if the features were ranked on the scored rows.
By default, the elimination is therefore repeated on the training rows of each fold, and its subsets
are scored on the held-out rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._params import CriterionName, SubsetRule
from .._typing import Rows, Table, Vector
from .._validation import check_varying
from ..checkpoints import Checkpoint, Series, map_series
from ..exceptions import InputError
from ..parallel import DurationEstimate, has_workers, progress_bar, single_threaded
from ..resampling import Labels, cv_splits
from ..subsets import FoldOverlap, HeldOutScore, PathScores
from ..terms.layout import WeightLayout
from ..terms.scaling import low_variance_features, scale_by_rows
from .active_features import ActiveFeatures, feature_matrix
from .engine import CRITERIA, Elimination, Evaluators, StepSchedule
from .evaluation import Evaluator
from .history import EliminationHistory
from .kernels import Kernel
from .scoring import DecisionScorer, Margin, check_scorer, constant_score
from .svm import ClassWeight, TrainedFold, pairwise_svms

Folds = list[tuple[Rows, Rows]]


LONG_RUN_ADVICE = (
    "Remove more features per step (step), use several workers (n_jobs), or pass the number of "
    "features to select. A checkpoint makes the run resumable, and verbose=1 shows progress."
)


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
        """Return the SVM problems of a fold's training rows, together with its held-out rows."""
        svms = pairwise_svms(train, labels.codes, self.class_weight, self.tol, labels.weight)
        return TrainedFold(svms, test.astype(np.int64))

    def evaluator(self, folds: Folds, labels: Labels) -> Evaluator:
        """Return an evaluator for the given folds; raise if the scorer fails on them."""
        trained = [self.fold(train, test, labels) for train, test in folds]
        check_scorer(self.scorer, trained[0])
        return Evaluator(self.kernel, trained, self.costs, self.scorer, Margin(labels), self.n_jobs)


@dataclass(frozen=True)
class RowSubset:
    """Rows of one elimination, folds to evaluate its steps, and rows held out of all steps."""

    rows: Rows
    held_out: Rows
    folds: Folds | None
    series: str


@dataclass(frozen=True)
class Plan:
    """Row subsets of one selection: all of its rows, and the training rows of each fold."""

    whole: RowSubset
    folds: list[RowSubset]

    @property
    def subsets(self) -> list[RowSubset]:
        return [self.whole, *self.folds]


@dataclass(frozen=True)
class SelectionPath:
    """Results of a :class:`Plan`: the elimination path on all rows and one path per fold.

    ``overlap`` is the overlap of the folds. ``test_ratio`` is the number of rows held out of all
    paths per row of the first one.
    """

    whole: EliminationHistory
    folds: list[EliminationHistory]
    overlap: FoldOverlap
    test_ratio: float

    @property
    def ranked_once(self) -> bool:
        """Whether features were ranked once on all rows instead of separately in each fold."""
        return not self.folds

    @property
    def scores(self) -> PathScores:
        """Scores of the subsets on each fold; there are no folds if nothing was scored."""
        whole, folds = self.whole, self.folds
        if self.ranked_once:
            empty = np.empty((0, whole.n_features), dtype=np.int64)
            constant = float(np.mean(whole.constant_scores)) if whole.constant_scores else np.nan
            return PathScores(
                whole.sizes,
                whole.fold_scores,
                whole.fold_margins,
                empty,
                constant,
                self.overlap,
            )
        steps = [[fold.step_with(size) for fold in folds] for size in whole.sizes]
        return PathScores(
            whole.sizes,
            np.array([[step.outer_score for step in row] for row in steps], dtype=float),
            np.array([[step.outer_margin for step in row] for row in steps], dtype=float),
            np.array([fold.positions for fold in folds]),
            float(np.mean([fold.constant_scores for fold in folds])),
            self.overlap,
        )


def nested_score(paths: Sequence[SelectionPath], rule: SubsetRule | int) -> HeldOutScore:
    """Return the nested cross-validation score of a rule, given one path per outer fold."""
    sizes = [path.scores.choose(rule) for path in paths]
    chosen = [path.whole.step_with(size) for path, size in zip(paths, sizes, strict=True)]
    return HeldOutScore(
        np.array([step.outer_score for step in chosen], dtype=float),
        np.array(sizes),
        np.array([path.whole.support(size) for path, size in zip(paths, sizes, strict=True)]),
        np.array([path.whole.steps[0].outer_score for path in paths], dtype=float),
        float(np.mean([path.whole.constant_scores for path in paths])),
        float(np.mean([path.test_ratio for path in paths])),
        nested=True,
    )


@dataclass(frozen=True)
class EliminationSetup:
    """Data and settings of an elimination, which can run on any subset of the rows.

    ``layout`` assigns the columns of ``X`` to features, which are eliminated as a whole.
    ``inner`` states whether the steps of an elimination require cross-validation: to choose C or
    among candidates, or to score subsets of features that are ranked once. ``repeat`` states
    whether to repeat the elimination in each fold of ``cv``. ``seed`` shuffles the folds.
    """

    X: Table
    layout: WeightLayout
    labels: Labels
    svm: SVMSettings
    criterion: CriterionName
    schedule: StepSchedule
    min_variance: float
    standardize: bool
    cv: Any
    inner: bool
    repeat: bool
    seed: int

    def plan(self) -> Plan:
        """Return the plan of a selection on all rows."""
        return self._plan(self.labels.rows, self.labels.rows[:0], "")

    def outer_plans(self, nested_cv: Any) -> list[Plan]:
        """Return one plan per outer fold of the nested cross-validation.

        ``nested_cv=True`` also uses ``cv`` for the outer folds.
        """
        outer = self.cv if nested_cv is True else nested_cv
        if outer is None:
            raise InputError(
                "nested_cv=True requires cv (got cv=None). Set cv, or pass a number of folds as "
                "nested_cv."
            )
        folds = cv_splits(outer, self.labels, self.labels.rows, seed=self.seed, name="nested_cv")
        return [
            self._plan(train, test, f"outer fold {number}")
            for number, (train, test) in enumerate(folds)
        ]

    def folds(self, rows: Rows, place: str) -> Folds:
        """Split the given rows into the folds of ``cv``; ``place`` names the outer fold, if any."""
        if place and not (isinstance(self.cv, Integral) or hasattr(self.cv, "split")):
            raise InputError(
                "repeat_in_folds and nested_cv split the training rows of each fold again, so cv "
                "cannot be a list of folds. Pass cv as a number or a splitter, or set "
                "repeat_in_folds=False and nested_cv=False."
            )
        name = f"cv within {place}" if place else "cv"
        return cv_splits(self.cv, self.labels, rows, seed=self.seed, name=name)

    def _plan(self, rows: Rows, held_out: Rows, place: str) -> Plan:
        whole = self._subset(rows, held_out, place or "all rows", place)
        folds = []
        for number, (train, test) in enumerate(self.folds(rows, place) if self.repeat else []):
            series = f"{place}, fold {number}" if place else f"fold {number}"
            folds.append(self._subset(train, test, series, series))
        return Plan(whole, folds)

    def _subset(self, rows: Rows, held_out: Rows, series: str, place: str) -> RowSubset:
        return RowSubset(rows, held_out, self.folds(rows, place) if self.inner else None, series)

    def pruned_features(self, rows: Rows) -> list[int]:
        """Return the features with variance at most ``min_variance``; raise if too few remain."""
        weight = None if self.labels.weight is None else self.labels.weight[rows]
        pruned = low_variance_features(self.X[rows], self.min_variance, self.layout, weight)
        n_remaining = self.layout.n_features - len(pruned)
        n_needed = max(2, self.schedule.n_final)
        if self.min_variance == 0:
            check_varying(len(pruned), self.layout.n_features)
        if n_remaining < n_needed:
            raise InputError(
                f"At least {n_needed} features must have a variance above min_variance="
                f"{self.min_variance:g} (got {n_remaining}). Reduce min_variance."
            )
        return pruned

    def check(self, subset: RowSubset) -> None:
        """Check the given rows before training; raise if elimination on them would fail."""
        self.pruned_features(subset.rows)
        evaluators = self._evaluators(subset)
        if evaluators.outer is not None:
            check_scorer(evaluators.outer, evaluators.whole)

    def run(
        self, plans: Sequence[Plan], checkpoint: Checkpoint, title: str | None
    ) -> list[SelectionPath]:
        """Run or resume all eliminations and return one path per plan.

        A progress bar is shown if ``title`` is not None. Workers share the eliminations, and the
        steps of each elimination are stored at its end. A single elimination is stored after each
        step, and workers share the candidates and folds of a step.
        """
        subsets = [subset for plan in plans for subset in plan.subsets]
        series = [checkpoint.series(subset.series) for subset in subsets]
        if len(subsets) > 1 and has_workers(self.svm.n_jobs):
            histories = map_series(
                self._eliminate_in_worker,
                series,
                subsets,
                DurationEstimate(len(subsets), LONG_RUN_ADVICE).advance,
                n_jobs=self.svm.n_jobs,
                progress=title,
            )
        else:
            estimate = DurationEstimate(len(subsets) * len(self.schedule.sizes), LONG_RUN_ADVICE)
            histories = [
                self.eliminate(part, title and f"{title}, {subset.series}", estimate, subset)
                for part, subset in zip(series, subsets, strict=True)
            ]
        remaining = iter(histories)
        return [
            SelectionPath(
                next(remaining),
                [next(remaining) for _ in plan.folds],
                FoldOverlap.from_folds([(fold.rows, fold.held_out) for fold in plan.folds]),
                len(plan.whole.held_out) / len(plan.whole.rows),
            )
            for plan in plans
        ]

    def _eliminate_in_worker(self, series: Series, subset: RowSubset) -> EliminationHistory:
        return self.eliminate(series, None, None, subset)

    def eliminate(
        self,
        series: Series,
        title: str | None,
        estimate: DurationEstimate | None,
        subset: RowSubset,
    ) -> EliminationHistory:
        """Run or resume the elimination on the given rows and return its path."""
        pruned = self.pruned_features(subset.rows)
        kept = np.setdiff1d(np.arange(self.layout.n_features), pruned)
        kernel = self.svm.kernel
        n_steps = self.schedule.n_steps(len(kept))
        done = max(0, len(series.steps()) - 1)
        evaluators = self._evaluators(subset)
        # Use one thread, as workers do: the number of threads changes the rounding of sums.
        with single_threaded(), progress_bar(title, n_steps, done=done) as update:
            columns = feature_matrix(
                self._scaled(kept, subset.rows), centered=kernel.shift_invariant
            )
            elimination = Elimination(
                ActiveFeatures(columns, np.repeat(kept, self.layout.widths[kept]), kernel),
                evaluators,
                CRITERIA[self.criterion],
                self.schedule,
                float(self.svm.costs[0]),
            )
            steps = elimination.run(
                series, update if estimate is None else estimate.counting(update)
            )
        return EliminationHistory(
            self.layout.n_features, pruned, steps, self._constant_scores(evaluators)
        )

    def _scaled(self, features: Rows, rows: Rows) -> Table:
        """Return the columns of some features, scaled with the statistics of the given rows."""
        return scale_by_rows(
            self.X[:, self.layout.weights_of(features)],
            rows,
            self.layout.take(features),
            self.labels.weight,
            standardize=self.standardize,
        )

    def _evaluators(self, subset: RowSubset) -> Evaluators:
        return Evaluators(
            self.svm.fold(subset.rows, subset.held_out, self.labels),
            self.svm.scorer if len(subset.held_out) else None,
            Margin(self.labels),
            None if subset.folds is None else self.svm.evaluator(subset.folds, self.labels),
        )

    def _constant_scores(self, evaluators: Evaluators) -> list[float]:
        if evaluators.outer is not None:
            return [constant_score(evaluators.outer, evaluators.whole, self.labels)]
        if evaluators.inner is None:
            return []
        scorer = evaluators.inner.scorer
        return [constant_score(scorer, fold, self.labels) for fold in evaluators.inner.folds]
