"""Rounds on all rows and on the training rows of each fold, and the scores of their subsets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from .._params import KEEP_FRACTION
from .._typing import Rows, Table, Vector
from ..checkpoints import Checkpoint, Series, fingerprint, map_series
from ..exceptions import InputError
from ..parallel import DurationEstimate, has_workers, progress_bar
from ..subsets import FoldOverlap, PathScores
from ..terms.layout import WeightLayout
from ..terms.scaling import constant_features, scale_by_rows
from .rounds import HeldOutRows, RoundHistory, Rounds, TrainingTask, schedule, score_weighted
from .trainers import derive_seed

Fold = tuple[Rows, Rows]

LONG_RUN_ADVICE = (
    "Remove more features per round (keep_fraction), use several workers (n_jobs), or pass the "
    "number of features to select. A checkpoint makes the run resumable."
)


@dataclass(frozen=True)
class SaliencyPaths:
    """Data and settings of the rounds, which can run on all rows or in a fold.

    ``entropy`` seeds all models. Tables with several columns per feature are scaled here, with
    ``standardize``; others are scaled by the estimator.
    """

    task: TrainingTask
    X: Table
    standardize: bool
    keep_fraction: float
    min_features_to_select: int
    n_repeats: int
    entropy: int
    n_jobs: int | None

    def run(
        self, folds: list[Fold], checkpoint: Checkpoint, title: str | None
    ) -> list[RoundHistory]:
        """Run or resume the rounds on all rows, then in each fold.

        Workers share these, and the rounds of each are stored at its end. Without folds, each round
        is stored, and workers share its repetitions.
        """
        self._check_folds(folds)
        places = [None, *enumerate(folds)]
        series = [checkpoint.series(_series_name(place)) for place in places]
        if len(places) > 1 and has_workers(self.n_jobs):
            return map_series(
                self._run_in_worker,
                series,
                places,
                DurationEstimate(len(places), LONG_RUN_ADVICE).advance,
                n_jobs=self.n_jobs,
                progress=title,
            )
        n_rounds = len(self.sizes(scored=False)) + len(folds) * len(self.sizes(scored=True))
        estimate = DurationEstimate(n_rounds, LONG_RUN_ADVICE)
        return [
            self._run(part, title, estimate, place)
            for part, place in zip(series, places, strict=True)
        ]

    def _check_folds(self, folds: list[Fold]) -> None:
        """Raise if the default score of a numeric target is undefined in a fold."""
        if self.task.n_classes is None and self.task.scorer is None:
            for number, (_, test) in enumerate(folds):
                if len(test) < 2:
                    raise InputError(
                        f"Fold {number} of cv has a single held-out row, for which R2 is "
                        "undefined. Use folds with at least two held-out rows, or set scoring."
                    )

    def sizes(self, *, scored: bool) -> list[int]:
        """Return the sizes of the ranking rounds or, if ``scored``, of all scored subsets.

        They differ if a single round ranks the features.
        """
        layout = self.task.masking.layout
        n_varying = layout.n_features - len(constant_features(self.scaled(), layout))
        fraction = KEEP_FRACTION if scored and self._single_round else self.keep_fraction
        return schedule(n_varying, fraction, self.min_features_to_select)

    def scores(self, histories: list[RoundHistory], folds: list[Fold]) -> PathScores:
        """Return the scores of the subsets, given the rounds of each fold."""
        sizes = self.sizes(scored=True)
        found = np.array([[history.held_out(size) for history in histories] for size in sizes])
        found = found.reshape(len(sizes), len(histories), 2)
        constant = [constant_score(self.task, train, test) for train, test in folds]
        return PathScores(
            np.array(sizes),
            found[:, :, 0],
            found[:, :, 1],
            np.array([history.ranking for history in histories]),
            float(np.mean(constant)) if constant else np.nan,
            FoldOverlap.from_folds(folds),
        )

    def scaled(self, rows: Rows | None = None) -> Table:
        """Return the table; features with several columns are scaled by the given or all rows."""
        task = self.task
        return scaled_table(
            self.X, task.masking.layout, rows, task.weight, standardize=self.standardize
        )

    @property
    def _single_round(self) -> bool:
        return self.keep_fraction == 0

    def _run_in_worker(self, series: Series, place: tuple[int, Fold] | None) -> RoundHistory:
        return self._run(series, None, None, place)

    def _run(
        self,
        series: Series,
        title: str | None,
        estimate: DurationEstimate | None,
        place: tuple[int, Fold] | None,
    ) -> RoundHistory:
        task, entropy, held_out = self.task, self.entropy, None
        X, layout = self.scaled(None if place is None else place[1][0]), task.masking.layout
        name = "all rows"
        if place is not None:
            number, (train, test) = place
            weight = None if task.weight is None else task.weight[test]
            held_out = HeldOutRows(X[test], task.y[test], task.targets[test], weight)
            task, X, entropy = task.restrict(train), X[train], derive_seed(entropy, number, 0, 0)
            name = f"fold {number}"
        constant = constant_features(X, layout)
        active = np.setdiff1d(np.arange(layout.n_features), constant)
        sizes = {min(size, len(active)) for size in self.sizes(scored=place is not None)}
        rounds = Rounds(
            task,
            X,
            sorted(sizes, reverse=True),
            self.n_repeats,
            entropy,
            self.n_jobs,
            held_out,
            1 if self._single_round else None,
        )
        bar = None if title is None else f"{title}, {name}"
        with progress_bar(bar, len(rounds.sizes), done=len(series.steps())) as update:
            advance = update if estimate is None else estimate.counting(update)
            completed = rounds.run(active, series, advance)
        return RoundHistory(layout.n_features, constant, completed)


def scaled_table(
    X: Table,
    layout: WeightLayout,
    rows: Rows | None = None,
    weight: Vector | None = None,
    *,
    standardize: bool,
) -> Table:
    """Return a table; if features have several columns, it is scaled by the given or all rows."""
    if not layout.blocks:
        return X
    rows = np.arange(X.shape[0]) if rows is None else rows
    return scale_by_rows(X, rows, layout, weight, standardize=standardize)


def _series_name(place: tuple[int, Fold] | None) -> str:
    """Return the name of the rounds on all rows or in a fold, for checkpoints."""
    if place is None:
        return "rounds"
    number, (train, test) = place
    # The hash distinguishes the folds of different values of cv in one checkpoint.
    return f"fold {number} {fingerprint(train, test)}"


def constant_score(task: TrainingTask, train: Rows, test: Rows) -> float:
    """Return the score of a constant prediction: the most frequent class, or the mean."""
    model = DummyRegressor() if task.n_classes is None else DummyClassifier()
    name = "r2" if task.n_classes is None else "balanced_accuracy"
    scorer = get_scorer(name) if task.scorer is None else task.scorer
    fitted, held_out = (None if task.weight is None else task.weight[r] for r in (train, test))
    model.fit(np.zeros((len(train), 1)), task.y[train], sample_weight=fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may be missing in a fold
        return score_weighted(scorer, model, np.zeros((len(test), 1)), task.y[test], held_out)
