"""What a run has found, round by round, and the ranking that it amounts to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector


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

    def as_mapping(self) -> dict[str, Any]:
        """For a checkpoint."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Round:
        """From a checkpoint."""
        return cls(**values)


@dataclass(frozen=True)
class Trace:
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
