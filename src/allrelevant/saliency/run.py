"""Train, find what is salient, let the rest go, and again (Algorithm 1 of Cancela et al. 2020)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Table, Vector
from ..checkpoints import CheckpointFile
from ..exceptions import RelevanceWarning
from ..parallel import run_tasks
from .aggregation import aggregate
from .balance import balanced_rows
from .columns import Features, Shape, deviations
from .differentiable import DifferentiableModel
from .failures import failures_of
from .gains import Gain, Targets, in_deviations_of
from .registry import differentiable
from .trace import Round
from .trainers import seed_of, seeded

_SERIES = "rounds"


@dataclass(frozen=True)
class Problem:
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
    per_deviation : bool
        Whether a feature counts per standard deviation, or else per unit.
    """

    y: NDArray[Any]
    targets: Targets
    n_classes: int | None
    trainer: Any
    shape: Shape
    gain: Gain | None
    balanced: bool
    per_deviation: bool

    def trained(self, X: Table, seed: int) -> Any:
        """A model of these columns."""
        y = self.y
        if self.balanced and self.n_classes is not None:
            rows = balanced_rows(self.targets, seed)
            X, y = X[rows], y[rows]
        return seeded(self.trainer, seed).fit(X, y)

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


def attempt(problem: Problem, X: Table, seed: int) -> Trial:
    """Train once on some columns, and aggregate the saliency."""
    began = time.perf_counter()
    fitted = problem.trained(X, seed)
    trained = time.perf_counter()
    model = differentiable(fitted)
    found = aggregate(
        model,
        X,
        problem.targets,
        n_classes=problem.n_classes,
        gain=problem.gain_of(model),
        units=deviations(X) if problem.per_deviation else None,
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
    reps : int
        How often each is repeated.
    entropy : int
        Where all seeds come from.
    n_jobs : int or None
    """

    problem: Problem
    X: Table
    sizes: list[int]
    reps: int
    entropy: int
    n_jobs: int | None

    def run(
        self, alive: Features, file: CheckpointFile | None, advance: Callable[[], object]
    ) -> list[Round]:
        """Go through the rounds, from where an earlier run was interrupted.

        Parameters
        ----------
        alive : ndarray
            The features of the first round.
        file : CheckpointFile or None
        advance : callable
            Called after each round.
        """
        rounds = recorded(file)
        if rounds:
            alive = rounds[-1].features
        for number in range(len(rounds), len(self.sizes)):
            alive = alive[: self.sizes[number]]
            rounds.append(self._round(number, alive))
            alive = rounds[-1].features
            if file is not None:
                state = {"entropy": self.entropy}
                file.append(_SERIES, rounds[-1].as_mapping(), state=state)
            advance()
        return rounds

    def _round(self, number: int, alive: Features) -> Round:
        seeds = [seed_of(self.entropy, number, repetition) for repetition in range(self.reps)]
        X = self.problem.shape.reduced(self.X, alive)
        with failures_of(f"Round {number + 1} of {len(self.sizes)}, on {len(alive)} features"):
            trials = run_tasks(partial(attempt, self.problem, X), seeds, n_jobs=self.n_jobs)
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


def recorded(file: CheckpointFile | None) -> list[Round]:
    """The rounds of an earlier run that was interrupted."""
    return [] if file is None else [Round.from_mapping(r) for r in file.results(_SERIES)]


def recorded_entropy(file: CheckpointFile | None) -> int | None:
    """Where the seeds of that run came from; it goes on with the same."""
    state = None if file is None else file.state(_SERIES)
    return None if state is None else int(state["entropy"])
