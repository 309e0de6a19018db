"""Who ranks the features of the challenge sets: SVMs and networks by saliency, a mask, filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from allrelevant import DeepFeatureSelection, NetworkClassifier, SaliencySelector

from .comparators.filters import mutual_information, relieff
from .saliency_sets import KERNELS, ChallengeSet

# Mutual information is estimated with noise: 42 is the draw of the authors' published scripts.
FILTERS: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "MIM": partial(mutual_information, random_state=42),
    "ReliefF": relieff,
}

# What the authors' published scripts have. Their paper writes 0.001 of the weight decay, with which
# networks rank what they overfit to (``weight_decay``), and states the factor of the mask for its
# regressions alone.
WEIGHT_DECAY, MASK_PENALTY = 0.1, 1e-3

GAMMAS = (0.0, 0.975)

# Of the one training of DFS, and of each of the many of SFS, where not the paper's.
EPOCHS = {"dorothea": (20, 4)}
PAPERS_EPOCHS = (100, 100)


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
    epochs, n_repeats : int
        Of networks.
    weight_decay : float
        Of networks.
    """

    ranker: str
    gamma: float = 0.0
    epochs: int = 100
    n_repeats: int = 1
    weight_decay: float = WEIGHT_DECAY

    @property
    def title(self) -> str:
        """What tables call it."""
        of_saliency = self.ranker in KERNELS or self.ranker == "NN"
        return f"{self.ranker}, gamma {self.gamma:g}" if of_saliency else self.ranker


def rankings(name: str) -> list[Ranking]:
    """Who ranks a set."""
    of_mask, of_saliency = EPOCHS.get(name, PAPERS_EPOCHS)
    return [
        *(Ranking(kernel, gamma) for gamma in GAMMAS for kernel in KERNELS),
        *(Ranking(ranker) for ranker in FILTERS),
        Ranking("DFS", epochs=of_mask),
        Ranking("NN", 0.9, epochs=of_saliency, n_repeats=3),
    ]


def ranked(data: ChallengeSet, ranking: Ranking, seed: int = 0) -> dict[str, Any]:
    """The features in their order, and what it took to find it."""
    if ranking.ranker in FILTERS:
        scores = FILTERS[ranking.ranker](data.X, data.y)
        return {"order": np.argsort(-scores, kind="stable")}
    if ranking.ranker == "DFS":
        return _by_mask(data, ranking, seed)
    return _by_saliency(data, ranking, seed)


def _by_saliency(data: ChallengeSet, ranking: Ranking, seed: int) -> dict[str, Any]:
    machine = ranking.ranker in KERNELS
    selector = SaliencySelector(
        data.machine(ranking.ranker) if machine else _network(ranking),
        keep_fraction=ranking.gamma,
        n_repeats=ranking.n_repeats,
        n_features_to_select=1,
        random_state=seed,
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
    return NetworkClassifier("mlp", max_epochs=ranking.epochs, l2=ranking.weight_decay, n_threads=1)
