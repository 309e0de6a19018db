"""Rounds of saliency-based selection (Algorithm 1 of Cancela et al. 2020).

Each round trains models on the active features, sums their saliency, and keeps the most salient
features for the next round. :func:`schedule` computes the number of features per round.
:class:`Rounds` runs the rounds, and :class:`TrainingTask` trains their models.
:class:`RoundHistory` derives the ranking. Inactive features are dropped or set to zero
(:class:`ColumnMasking`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from .._typing import Matrix, Rows, Table, Vector
from ..checkpoints import Series
from ..exceptions import warn_caller
from ..parallel import parallel_map
from ..terms.layout import WeightLayout
from ..terms.scaling import deviations
from .aggregation import aggregate_saliency
from .differentiable import DifferentiableModel, as_differentiable, linearize, predicted_codes
from .gains import Gain, Targets
from .trainers import clone_with_seed, derive_seed, report_training_errors, weight_arguments

Features = NDArray[np.int64]


def schedule(n_features: int, keep_fraction: float, min_features_to_select: int) -> list[int]:
    """Return the number of features in each round.

    A round with n features is followed by a round with ``int(keep_fraction * n)``, as long as this
    exceeds ``min_features_to_select``. If ``keep_fraction`` is zero, there is a single round.
    """
    sizes = [n_features]
    while (following := int(keep_fraction * sizes[-1])) > min_features_to_select:
        sizes.append(following)
    return sizes


@dataclass(frozen=True)
class Round:
    """Result of one round: the active features and their saliency, sorted by decreasing saliency.

    ``scores`` are the weights of the repetitions, that is, the training accuracy of each model or
    the inverse of its mean absolute training error. ``held_out`` is the mean score and the mean
    margin of the models on held-out rows, if any. Times are totals over all repetitions.
    """

    features: NDArray[np.int64]
    saliency: Vector
    scores: list[float]
    held_out: list[float]
    training_seconds: float
    saliency_seconds: float


@dataclass(frozen=True)
class Rounds:
    """Saliency-based elimination, which removes the least salient features in each round.

    ``sizes`` gives the number of features per round, and ``entropy`` seeds all models. Rounds from
    ``n_ranking`` on keep the order of the features and only score them on held-out rows.
    """

    task: TrainingTask
    X: Table
    sizes: list[int]
    n_repeats: int
    entropy: int
    n_jobs: int | None
    held_out: HeldOutRows | None = None
    n_ranking: int | None = None

    def run(self, active: Features, series: Series, advance: Callable[[], object]) -> list[Round]:
        """Run or resume all rounds and return their results; call ``advance`` after each round."""
        rounds = [Round(**values) for values in series.steps()]
        if rounds:
            active = rounds[-1].features
        for number in range(len(rounds), len(self.sizes)):
            active = active[: self.sizes[number]]
            rounds.append(self._round(number, active))
            active = rounds[-1].features
            series.append(asdict(rounds[-1]), {"entropy": self.entropy})
            advance()
        return rounds

    def _round(self, number: int, active: Features) -> Round:
        seeds = [
            derive_seed(self.entropy, number, repetition) for repetition in range(self.n_repeats)
        ]
        X = self.task.masking.reduce(self.X, active)
        with report_training_errors(
            f"Training failed in round {number + 1} of {len(self.sizes)} ({len(active)} features)"
        ):
            held_out = None if self.held_out is None else self.held_out.reduce(self.task, active)
            trials = parallel_map(
                partial(run_trial, self.task, X, held_out), seeds, n_jobs=self.n_jobs
            )
        scores = np.array([trial.score for trial in trials])
        total = sum(w * trial.saliency for w, trial in zip(scores, trials, strict=True))
        saliency = self.task.masking.per_feature(np.asarray(total), active)
        ranks = self.n_ranking is None or number < self.n_ranking
        if ranks and not saliency.any():
            warn_caller(
                f"In round {number + 1} of {len(self.sizes)}, the model depends on none of its "
                f"{len(active)} features, so they are ranked by their order in the table. Use a "
                "weaker penalty or standardize the features."
            )
        order = np.lexsort((active, -saliency))  # ties keep the table order
        if not ranks:
            order = np.arange(len(active))
        return Round(
            active[order],
            saliency[order],
            scores.tolist(),
            np.mean([trial.held_out for trial in trials], axis=0).tolist(),
            sum(trial.training_seconds for trial in trials),
            sum(trial.saliency_seconds for trial in trials),
        )


@dataclass(frozen=True)
class TrainingTask:
    """Estimator, targets and training options that are the same in all rounds.

    ``trainer`` is the estimator, and ``y`` the target passed to it. ``targets`` are class codes, or
    numeric targets if ``n_classes`` is None, for the gain function. The trainer is cloned. If
    ``gain`` is None, the gain that matches the loss is used. ``balanced`` repeats rows of rare
    classes. ``per_std`` measures saliency per standard deviation of a feature. ``scorer`` is a
    scikit-learn scorer for held-out rows; None means balanced accuracy, or R2 for numeric targets.
    ``weight`` are the weights of the rows, in training, saliency and scores; None means equal
    weights.
    """

    y: NDArray[Any]
    targets: Targets
    n_classes: int | None
    trainer: Any
    masking: ColumnMasking
    gain: Gain | None
    balanced: bool
    per_std: bool
    scorer: Any = None
    weight: Vector | None = None

    def restrict(self, rows: Rows) -> TrainingTask:
        """Return the task for some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, y=self.y[rows], targets=self.targets[rows], weight=weight)

    def held_out_scores(self, fitted: Any, rows: HeldOutRows) -> list[float]:
        """Return the score and the margin of a trained model on held-out rows.

        The margin of a row is half the difference between the output for its class and the largest
        output for other classes, clipped to [-1, 1] and averaged over the classes. It is 0 for
        numeric targets.
        """
        linearization = linearize(as_differentiable(fitted), rows.X)
        outputs = linearization.outputs
        score = margin = 0.0
        if self.n_classes is None:
            if self.scorer is None:  # R2 is undefined for a single row
                score = float(r2_score(rows.targets, outputs[:, 0], sample_weight=rows.weight))
        else:
            correct = predicted_codes(linearization) == rows.targets
            score = class_mean(correct.astype(np.float64), rows.targets, rows.weight)
            others = outputs.astype(np.float64)
            own = others[np.arange(len(others)), rows.targets]
            others[np.arange(len(others)), rows.targets] = -np.inf
            margins = np.clip((own - others.max(axis=1)) / 2, -1.0, 1.0)
            margin = class_mean(margins, rows.targets, rows.weight)
        if self.scorer is not None:
            score = score_weighted(self.scorer, fitted, rows.X, rows.y, rows.weight)
        return [score, margin]

    def train(self, X: Table, seed: int) -> Any:
        """Return a clone of ``trainer``, trained on the given columns with the given seed."""
        trainer, y = clone_with_seed(self.trainer, seed), self.y
        is_balanced = self.balanced and self.n_classes is not None
        if self.weight is not None:
            weight = balanced_weights(self.targets, self.weight) if is_balanced else self.weight
            return trainer.fit(X, y, **weight_arguments(trainer, weight))
        if is_balanced:
            rows = balanced_rows(self.targets, seed)
            X, y = X[rows], y[rows]
        return trainer.fit(X, y)

    def gain_for(self, model: DifferentiableModel) -> Gain:
        """Return the gain function of a model; regression gains use the unit of the target."""
        gain = model.gain if self.gain is None else self.gain
        with_unit: Callable[..., Gain] | None = getattr(gain, "with_unit_from", None)
        weight = () if self.weight is None else (self.weight,)
        return gain if with_unit is None else with_unit(self.targets, *weight)


def class_mean(values: Vector, codes: NDArray[Any], weight: Vector | None = None) -> float:
    """Average values within each class, then over the classes."""
    if weight is None:
        return float(np.mean([values[codes == code].mean() for code in np.unique(codes)]))
    present = np.unique(codes[weight > 0])
    return float(np.mean([np.average(values, weights=weight * (codes == c)) for c in present]))


def score_weighted(scorer: Any, fitted: Any, X: Any, y: Any, weight: Vector | None) -> float:
    """Return the score of a fitted estimator by a scikit-learn scorer."""
    weights = {} if weight is None else {"sample_weight": weight}
    return float(scorer(fitted, X, y, **weights))


@dataclass(frozen=True)
class HeldOutRows:
    """Rows on which the models of the rounds are scored but not trained."""

    X: Table
    y: NDArray[Any]
    targets: Targets
    weight: Vector | None = None

    def reduce(self, task: TrainingTask, active: Features) -> HeldOutRows:
        """Return the rows with inactive features dropped or set to zero."""
        return replace(self, X=task.masking.reduce(self.X, active))


@dataclass(frozen=True)
class Trial:
    """Result of one repetition of a round: saliency, scores and times."""

    saliency: Vector
    score: float
    held_out: list[float]
    training_seconds: float
    saliency_seconds: float


def run_trial(task: TrainingTask, X: Table, held_out: HeldOutRows | None, seed: int) -> Trial:
    """Train one model on the given columns; return its saliency, scores and times."""
    start = time.perf_counter()
    fitted = task.train(X, seed)
    trained = time.perf_counter()
    model = as_differentiable(fitted)
    result = aggregate_saliency(
        model,
        X,
        task.targets,
        n_classes=task.n_classes,
        gain=task.gain_for(model),
        units=deviations(X, task.weight) if task.per_std else None,
        weight=task.weight,
    )
    return Trial(
        result.saliency,
        result.score,
        [] if held_out is None else task.held_out_scores(fitted, held_out),
        trained - start,
        time.perf_counter() - trained,
    )


def balanced_rows(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return row indices, repeated so that every class is as frequent as the largest one.

    The rows of a class are repeated equally often. The remainder is drawn at random.
    """
    counts = np.bincount(codes)
    rng = np.random.default_rng(seed)
    chosen = [np.arange(len(codes))]
    for code, count in enumerate(counts):
        if count:
            rows = np.flatnonzero(codes == code)
            times, rest = divmod(int(counts.max() - count), int(count))
            chosen += [np.tile(rows, times), rng.choice(rows, rest, replace=False)]
    return np.concatenate(chosen)


def balanced_weights(codes: NDArray[np.int64], weight: Vector) -> Vector:
    """Return the weights, multiplied so that every class has the same total weight."""
    totals = np.bincount(codes, weight)
    return (
        weight * np.divide(totals.max(), totals, out=np.zeros_like(totals), where=totals > 0)[codes]
    )


class ColumnMasking(Protocol):
    """Strategy for inactive features: drop their columns, or set them to zero.

    ``layout`` assigns columns to features. The saliency of a feature with several columns is the
    Euclidean norm of their saliency, like its weight in elimination.
    """

    @property
    def layout(self) -> WeightLayout:
        """Assignment of columns to features."""

    def reduce(self, X: Table, active: Features) -> Table:
        """Return the table, in column order, with inactive features dropped or set to zero."""

    def per_feature(self, values: Vector, active: Features) -> Vector:
        """Convert values per column of the reduced table to values per active feature."""

    def expand(self, values: Matrix, active: Features) -> Matrix:
        """Expand values per column of the reduced table to all columns; inactive ones are zero."""


@dataclass(frozen=True)
class DropColumns:
    """Strategy that drops the columns of inactive features."""

    layout: WeightLayout

    def reduce(self, X: Table, active: Features) -> Table:
        return X[:, self.layout.weights_of(np.sort(active))]

    def per_feature(self, values: Vector, active: Features) -> Vector:
        kept = np.sort(active)
        return self.layout.take(kept).norms(values)[np.searchsorted(kept, active)]

    def expand(self, values: Matrix, active: Features) -> Matrix:
        full = np.zeros((len(values), self.layout.n_weights))
        full[:, self.layout.weights_of(np.sort(active))] = values
        return full


@dataclass(frozen=True)
class ZeroColumns:
    """Strategy that sets inactive features to zero, for models with a fixed number of inputs."""

    layout: WeightLayout

    def reduce(self, X: Table, active: Features) -> Table:
        kept = np.zeros(X.shape[1], dtype=X.dtype)
        kept[self.layout.weights_of(active)] = 1
        return sp.csr_array(X.multiply(kept)) if sp.issparse(X) else X * kept

    def per_feature(self, values: Vector, active: Features) -> Vector:
        return self.layout.norms(values)[active]

    def expand(self, values: Matrix, active: Features) -> Matrix:
        """Return the values with those of inactive features set to zero."""
        full, columns = np.zeros_like(values, dtype=np.float64), self.layout.weights_of(active)
        full[:, columns] = values[:, columns]
        return full


@dataclass(frozen=True)
class RoundHistory:
    """Rounds of a complete selection, and the ``constant`` features excluded from it."""

    n_features: int
    constant: list[int]
    rounds: Sequence[Round]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Rank of each feature (1: most salient), from the last round in which it was active."""
        order = np.concatenate([self.rounds[0].features, np.array(self.constant, dtype=np.int64)])
        for round_ in self.rounds:
            order[: len(round_.features)] = round_.features
        ranking = np.empty(self.n_features, dtype=np.int64)
        ranking[order] = np.arange(1, self.n_features + 1)
        return ranking

    @property
    def importances(self) -> Vector:
        """Saliency of each feature divided by the total saliency of its last active round."""
        importances = np.zeros(self.n_features)
        for round_ in self.rounds:
            total = round_.saliency.sum()
            importances[round_.features] = round_.saliency / total if total > 0 else 0.0
        return importances

    def held_out(self, n_features: int) -> list[float]:
        """Return the score and the margin of the smallest subset with at least ``n_features``.

        If columns are constant, the largest subset can have fewer features.
        """
        rounds = [round_ for round_ in self.rounds if len(round_.features) >= n_features]
        return [self.rounds[0], *rounds][-1].held_out

    def rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return one dict per round, used as the rows of a selector's ``history_``."""
        sizes = [len(round_.features) for round_ in self.rounds]
        return [
            {
                "round": number + 1,
                "n_features": size,
                "features": [names[j] for j in round_.features],
                "saliency": round_.saliency.tolist(),
                "dropped": [names[j] for j in round_.features[following:]],
                "score": float(np.mean(round_.scores)),
                "training_seconds": round_.training_seconds,
                "saliency_seconds": round_.saliency_seconds,
            }
            for number, (round_, size, following) in enumerate(
                zip(self.rounds, sizes, [*sizes[1:], sizes[-1]], strict=True)
            )
        ]
