"""Feature rankings of the challenge datasets by saliency, input masks and filter methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from allrelevant import DeepFeatureSelection, NetworkClassifier, SaliencySelector

from .comparators.filters import mutual_information, relieff
from .saliency_sets import KERNELS, ChallengeSet

# The estimate of mutual information is random; 42 is the seed in the authors' published scripts.
FILTERS: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "MIM": partial(mutual_information, random_state=42),
    "ReliefF": relieff,
}

# Values of the authors' published scripts. The paper states a weight decay of 0.001, with which
# networks overfit and rank poorly (see ``weight_decay``), and a mask penalty for regression only.
WEIGHT_DECAY, MASK_PENALTY = 0.1, 1e-3

GAMMAS = (0.0, 0.975)

# Epochs of DFS, which trains one network, and of each network of SFS, if not those of the paper.
EPOCHS = {"dorothea": (20, 4)}
PUBLISHED_EPOCHS = (100, 100)


@dataclass(frozen=True)
class Ranking:
    """Settings of one feature ranking.

    Attributes
    ----------
    ranker : str
        A kernel, a filter, ``"NN"`` (saliency of a network with 150, 100 and 50 units) or ``"DFS"``
        (the input mask of this network).
    gamma : float
        Fraction of features kept per round; zero for a single round.
    epochs, n_repeats : int
        Epochs and repetitions of networks.
    weight_decay : float
        Weight decay of networks.
    """

    ranker: str
    gamma: float = 0.0
    epochs: int = 100
    n_repeats: int = 1
    weight_decay: float = WEIGHT_DECAY

    @property
    def title(self) -> str:
        """Return the name of the ranking in tables."""
        uses_saliency = self.ranker in KERNELS or self.ranker == "NN"
        return f"{self.ranker}, gamma {self.gamma:g}" if uses_saliency else self.ranker


def rankings(name: str) -> list[Ranking]:
    """Return the feature rankings that are compared on a dataset."""
    mask_epochs, saliency_epochs = EPOCHS.get(name, PUBLISHED_EPOCHS)
    return [
        *(Ranking(kernel, gamma) for gamma in GAMMAS for kernel in KERNELS),
        *(Ranking(ranker) for ranker in FILTERS),
        Ranking("DFS", epochs=mask_epochs),
        Ranking("NN", 0.9, epochs=saliency_epochs, n_repeats=3),
    ]


def rank(data: ChallengeSet, ranking: Ranking, seed: int = 0) -> dict[str, Any]:
    """Rank the features; return their ``order``, and times or counts of the ranking."""
    if ranking.ranker in FILTERS:
        scores = FILTERS[ranking.ranker](data.X, data.y)
        return {"order": np.argsort(-scores, kind="stable")}
    if ranking.ranker == "DFS":
        return _by_mask(data, ranking, seed)
    return _by_saliency(data, ranking, seed)


def _by_saliency(data: ChallengeSet, ranking: Ranking, seed: int) -> dict[str, Any]:
    selector = SaliencySelector(
        data.svm(ranking.ranker) if ranking.ranker in KERNELS else _network(ranking),
        keep_fraction=ranking.gamma,
        n_repeats=ranking.n_repeats,
        n_features_to_select=1,
        standardize=False,
        balanced=False,
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
