"""Rows of rare classes, repeated until all classes are equally frequent.

Which features are alive, and how a model that needs all its inputs is kept from the others.

What a run has found, round by round, and the ranking that it amounts to.

Train, find what is salient, let the rest go, and again (Algorithm 1 of Cancela et al. 2020).

How many features take part in each round.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Table, Vector
from ..checkpoints import Series
from ..exceptions import RelevanceWarning
from ..parallel import parallel_map
from ..terms.scaling import deviations
from .aggregation import aggregate_saliency
from .differentiable import DifferentiableModel, as_differentiable
from .gains import Gain, Targets, in_deviations_of
from .trainers import clone_with_seed, derive_seed, training_errors_in_one_line


def balanced_rows(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Rows such that every class has as many as the largest.

    Each row of a class comes equally often, but for a rest that is drawn.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes, 0 to k - 1.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> balanced_rows(np.array([0, 0, 0, 0, 1, 1]), seed=0).tolist()
    [0, 1, 2, 3, 4, 5, 4, 5]
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


Features = NDArray[np.int64]


class ColumnMasking(Protocol):
    """How the table looks to a model when only some features are alive."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """The table with these features; the order of its columns is kept."""
        ...

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """From one number a column of that table to one a feature, in the order given."""
        ...

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """Rows over the columns of that table, as rows over all features; zero for the others."""
        ...


class DropColumns:
    """Dead features are dropped."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """The columns that are alive."""
        return X[:, np.sort(alive)]

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """In the order given."""
        return values[np.searchsorted(np.sort(alive), alive)]

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """In their places."""
        full = np.zeros((len(values), n_features))
        full[:, np.sort(alive)] = values
        return full


class ZeroColumns:
    """Dead features are set to zero: the model keeps its shape, as of pictures."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """All columns, those that are dead without content."""
        kept = np.zeros(X.shape[1], dtype=X.dtype)
        kept[alive] = 1
        return sp.csr_array(X.multiply(kept)) if sp.issparse(X) else X * kept

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """In the order given."""
        return values[alive]

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """What the model says of features that it never saw is left out."""
        full = np.zeros((len(values), n_features))
        full[:, alive] = values[:, alive]
        return full


@dataclass(frozen=True)
class Round:
    """One round: models trained on some features, and the saliency of each.

    Attributes
    ----------
    features : ndarray of shape (n_alive,)
        Those that took part, the most salient first.
    saliency : ndarray of shape (n_alive,)
        Theirs, in this order.
    scores : list of float
        Of each repetition: its accuracy on the rows it was trained on, or one over its mean
        absolute error there. Repetitions weigh as much.
    training_seconds : float
        Of all repetitions.
    saliency_seconds : float
    """

    features: NDArray[np.int64]
    saliency: Vector
    scores: list[float]
    training_seconds: float
    saliency_seconds: float


@dataclass(frozen=True)
class RoundHistory:
    """A whole run.

    Attributes
    ----------
    n_features : int
        Of the table.
    constant : list of int
        Features that took no part.
    rounds : sequence of Round
    """

    n_features: int
    constant: list[int]
    rounds: Sequence[Round]

    @property
    def ranking(self) -> NDArray[np.int64]:
        """1 for the most relevant; by the last round that each feature took part in."""
        order = np.concatenate([self.rounds[0].features, np.array(self.constant, dtype=np.int64)])
        for found in self.rounds:
            order[: len(found.features)] = found.features
        ranking = np.empty(self.n_features, dtype=np.int64)
        ranking[order] = np.arange(1, self.n_features + 1)
        return ranking

    @property
    def importances(self) -> Vector:
        """Share of each feature in the saliency of the last round that it took part in."""
        importances = np.zeros(self.n_features)
        for found in self.rounds:
            total = found.saliency.sum()
            importances[found.features] = found.saliency / total if total > 0 else 0.0
        return importances


@dataclass(frozen=True)
class TrainingTask:
    """What is learned, and by whom.

    Attributes
    ----------
    y : ndarray of shape (n,)
        As the trainer wants it.
    targets : ndarray of shape (n,)
        As gains want it: codes of the classes, or numbers.
    n_classes : int or None
    trainer : estimator
    shape : Shape
    gain : Gain or None
    balanced : bool
    per_std : bool
        Whether a feature counts per standard deviation, or else per unit.
    """

    y: NDArray[Any]
    targets: Targets
    n_classes: int | None
    trainer: Any
    shape: ColumnMasking
    gain: Gain | None
    balanced: bool
    per_std: bool

    def trained(self, X: Table, seed: int) -> Any:
        """A model of these columns."""
        y = self.y
        if self.balanced and self.n_classes is not None:
            rows = balanced_rows(self.targets, seed)
            X, y = X[rows], y[rows]
        return clone_with_seed(self.trainer, seed).fit(X, y)

    def gain_of(self, model: DifferentiableModel) -> Gain:
        """What is differentiated: as wished for, or by the loss of the model."""
        gain = model.gain if self.gain is None else self.gain
        return in_deviations_of(gain, self.targets)


@dataclass(frozen=True)
class Trial:
    """One repetition of a round: what was found, and how long it took."""

    saliency: Vector
    score: float
    training_seconds: float
    saliency_seconds: float


def attempt(problem: TrainingTask, X: Table, seed: int) -> Trial:
    """Train once on some columns, and aggregate the saliency."""
    began = time.perf_counter()
    fitted = problem.trained(X, seed)
    trained = time.perf_counter()
    model = as_differentiable(fitted)
    found = aggregate_saliency(
        model,
        X,
        problem.targets,
        n_classes=problem.n_classes,
        gain=problem.gain_of(model),
        units=deviations(X) if problem.per_std else None,
    )
    return Trial(found.saliency, found.score, trained - began, time.perf_counter() - trained)


@dataclass(frozen=True)
class Rounds:
    """A run over a schedule.

    Attributes
    ----------
    problem : Problem
    X : ndarray or csr_array of shape (n, d)
    sizes : list of int
        Number of features of each round.
    n_repeats : int
        How often each is repeated.
    entropy : int
        Where all seeds come from.
    n_jobs : int or None
    """

    problem: TrainingTask
    X: Table
    sizes: list[int]
    n_repeats: int
    entropy: int
    n_jobs: int | None

    def run(self, alive: Features, series: Series, advance: Callable[[], object]) -> list[Round]:
        """Go through the rounds, from where an earlier run was interrupted.

        Parameters
        ----------
        alive : ndarray
            The features of the first round.
        series : Series
            The rounds of the checkpoint.
        advance : callable
            Called after each round.
        """
        rounds = [Round(**values) for values in series.steps()]
        if rounds:
            alive = rounds[-1].features
        for number in range(len(rounds), len(self.sizes)):
            alive = alive[: self.sizes[number]]
            rounds.append(self._round(number, alive))
            alive = rounds[-1].features
            series.append(asdict(rounds[-1]), {"entropy": self.entropy})
            advance()
        return rounds

    def _round(self, number: int, alive: Features) -> Round:
        seeds = [
            derive_seed(self.entropy, number, repetition) for repetition in range(self.n_repeats)
        ]
        X = self.problem.shape.reduced(self.X, alive)
        with training_errors_in_one_line(
            f"Round {number + 1} of {len(self.sizes)}, on {len(alive)} features"
        ):
            trials = parallel_map(partial(attempt, self.problem, X), seeds, n_jobs=self.n_jobs)
        weights = np.array([trial.score for trial in trials])
        total = sum(w * trial.saliency for w, trial in zip(weights, trials, strict=True))
        saliency = self.problem.shape.of_alive(np.asarray(total), alive)
        if not saliency.any():
            warnings.warn(
                f"In round {number + 1} of {len(self.sizes)} the model depends on none of its "
                f"{len(alive)} features: their order in the table ranks them. Weaken its penalty, "
                "or bring features to one scale.",
                RelevanceWarning,
                stacklevel=4,
            )
        order = np.lexsort((alive, -saliency))  # of equally salient ones the first of the table
        return Round(
            alive[order],
            saliency[order],
            weights.tolist(),
            sum(trial.training_seconds for trial in trials),
            sum(trial.saliency_seconds for trial in trials),
        )


def schedule(n_features: int, keep_fraction: float, min_features_to_select: int) -> list[int]:
    """Number of features of each round: ``int(keep_fraction * n)`` of n go on, if enough are left.

    Parameters
    ----------
    n_features : int
        Of the first round.
    keep_fraction : float
        Share that goes on; zero is a single round.
    min_features_to_select : int
        No round is for so few or fewer: there is nothing left to tell apart.

    Examples
    --------
    >>> schedule(10, 0.5, 1), schedule(10, 0.0, 1), schedule(10, 0.9, 7)
    ([10, 5, 2], [10], [10, 9, 8])
    """
    sizes = [n_features]
    while (following := int(keep_fraction * sizes[-1])) > min_features_to_select:
        sizes.append(following)
    return sizes
