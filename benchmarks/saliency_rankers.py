"""Who ranks the features of the challenge sets: SVMs and networks by saliency, a mask, filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant import DeepFeatureSelection, NetworkClassifier, SaliencySelector

from .comparators.filters import mutual_information, relieff
from .saliency_sets import KERNELS, ChallengeSet

FILTERS = {"MIM": mutual_information, "ReliefF": relieff}

# The only strength that the paper states, for its regressions.
MASK_PENALTY = 5e-4


@dataclass(frozen=True)
class Ranking:
    """How features are ranked.

    Attributes
    ----------
    ranker : str
        A kernel, a filter, ``"NN"`` (saliency of a network of 150, 100 and 50 units) or ``"DFS"``
        (the mask in front of that network).
    gamma : float
        Share of the features that goes on to the next round; zero is a single round.
    epochs, reps : int
        Of networks.
    """

    ranker: str
    gamma: float = 0.0
    epochs: int = 100
    reps: int = 1

    @property
    def title(self) -> str:
        """What tables call it."""
        of_saliency = self.ranker in KERNELS or self.ranker == "NN"
        return f"{self.ranker}, gamma {self.gamma:g}" if of_saliency else self.ranker

    @property
    def label(self) -> str:
        """What tells it from others, in the names of files."""
        of_networks = f"-{self.epochs}x{self.reps}" if self.ranker in ("NN", "DFS") else ""
        return f"{self.ranker}-{self.gamma}{of_networks}"


def ranked(
    data: ChallengeSet, ranking: Ranking, seed: int = 0, checkpoint: Path | None = None
) -> dict[str, Any]:
    """The features in their order, and what it took to find it."""
    if ranking.ranker in FILTERS:
        scores = FILTERS[ranking.ranker](data.X, data.y)
        return {"order": np.argsort(-scores, kind="stable")}
    if ranking.ranker == "DFS":
        return _by_mask(data, ranking, seed)
    return _by_saliency(data, ranking, seed, checkpoint)


def _by_saliency(
    data: ChallengeSet, ranking: Ranking, seed: int, checkpoint: Path | None
) -> dict[str, Any]:
    machine = ranking.ranker in KERNELS
    selector = SaliencySelector(
        data.machine(ranking.ranker) if machine else _network(ranking),
        gamma=ranking.gamma,
        reps=ranking.reps,
        n_features_to_select=1,
        random_state=seed,
        checkpoint=checkpoint,
    ).fit(data.X, data.y)
    history = selector.history_
    return {
        "order": np.argsort(selector.ranking_),
        "training_seconds": history["training_seconds"].sum(),
        "saliency_seconds": history["saliency_seconds"].sum(),
        "n_rounds": len(history),
    }


def _by_mask(data: ChallengeSet, ranking: Ranking, seed: int) -> dict[str, Any]:
    selector = DeepFeatureSelection(_network(ranking), penalty=MASK_PENALTY, random_state=seed)
    selector.fit(data.X, data.y)
    return {
        "order": np.argsort(selector.ranking_),
        "zero_weights": int((selector.mask_ == 0).sum()),
    }


def _network(ranking: Ranking) -> NetworkClassifier:
    return NetworkClassifier("mlp", max_epochs=ranking.epochs, l2=1e-3, n_threads=1)
