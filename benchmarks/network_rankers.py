"""Feature rankings by networks: saliency (SFS), sparse input mask (DFS) and both."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from allrelevant import DeepFeatureSelection, RelevanceWarning, SaliencySelector

Order = NDArray[np.int64]


@dataclass(frozen=True)
class Ranked:
    """Features in order of relevance, and the number of zero mask weights if there is a mask."""

    order: Order
    zero_weights: int | None = None


@dataclass(frozen=True)
class Rankers:
    """Feature rankings by a network, with common settings and a folder for checkpoints.

    Attributes
    ----------
    network : NetworkClassifier or NetworkRegressor
    penalty : float
        Penalty of the mask.
    n_repeats : int
        Number of networks trained per round.
    min_features_to_select : int
        Number of features of the last round.
    checkpoints : Path or None
        Folder for checkpoints, from which an interrupted run is resumed.
    label : str
        Name of the data, used in the names of the checkpoints.
    """

    network: Any
    penalty: float
    n_repeats: int
    min_features_to_select: int
    checkpoints: Path | None
    label: str

    def saliency(self, X: Any, y: Any, *, gamma: float, masked: bool, seed: int) -> Ranked:
        """Rank by saliency, with an input mask if ``masked``; print the time for saliency."""
        network = clone(self.network).set_params(mask_penalty=self.penalty if masked else None)
        selector = SaliencySelector(
            network,
            keep_fraction=gamma,
            n_repeats=self.n_repeats,
            min_features_to_select=self.min_features_to_select,
            n_features_to_select=self.min_features_to_select,
            standardize=False,
            balanced=False,
            random_state=seed,
            checkpoint=self._checkpoint(f"{seed}-{gamma}-{masked}"),
        )
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)  # border pixels are constant
            selector.fit(X, y)
        _print_time(selector, time.perf_counter() - start, f"gamma {gamma}")
        return Ranked(np.argsort(selector.ranking_))

    def _checkpoint(self, run: str) -> Path | None:
        return None if self.checkpoints is None else self.checkpoints / f"{self.label}-{run}.ckpt"

    def mask(self, X: Any, y: Any, *, seed: int) -> Ranked:
        """Rank the features by the weights of a sparse input mask (DFS)."""
        selector = DeepFeatureSelection(self.network, penalty=self.penalty, random_state=seed)
        selector.fit(X, y)
        print(f"  DFS: {selector.n_features_} of {X.shape[1]} weights are nonzero", flush=True)
        return Ranked(np.argsort(selector.ranking_), int((selector.mask_ == 0).sum()))


def _print_time(selector: SaliencySelector, seconds: float, title: str) -> None:
    history = selector.history_
    training, saliency = history["training_seconds"].sum(), history["saliency_seconds"].sum()
    if training < seconds:  # otherwise most rounds were read from the checkpoint
        print(
            f"  {title}: {len(history)} rounds, {seconds:.0f} s, {seconds / training:.3f} times "
            f"the training time of the rounds; {100 * saliency / seconds:.2f}% spent on saliency",
            flush=True,
        )
