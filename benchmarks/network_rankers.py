"""The rankings of the paper's tables by one network: SFS, DFS, and SFS on a network with a mask."""

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
    """Features in their order; of a mask, how many of its weights are zero."""

    order: Order
    zero_weights: int | None = None


@dataclass(frozen=True)
class Rankers:
    """How features are ranked, and where long runs are kept.

    Attributes
    ----------
    network : NetworkClassifier or NetworkRegressor
    penalty : float
        Of the mask.
    n_repeats : int
    min_features_to_select : int
        Where rounds end.
    checkpoints : Path or None
        A run that was interrupted goes on from there; None keeps nothing.
    label : str
        Of the data, in the names of the files there.
    """

    network: Any
    penalty: float
    n_repeats: int
    min_features_to_select: int
    checkpoints: Path | None
    label: str

    def saliency(self, X: Any, y: Any, *, gamma: float, masked: bool, seed: int) -> Ranked:
        """SFS, or SFS+DFS with the mask; prints what the saliency cost."""
        network = clone(self.network).set_params(mask_penalty=self.penalty if masked else None)
        selector = SaliencySelector(
            network,
            keep_fraction=gamma,
            n_repeats=self.n_repeats,
            min_features_to_select=self.min_features_to_select,
            n_features_to_select=self.min_features_to_select,
            random_state=seed,
            checkpoint=self._checkpoint(f"{seed}-{gamma}-{masked}"),
        )
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)  # pixels of the margin are constant
            selector.fit(X, y)
        _print_cost(selector, time.perf_counter() - start, f"gamma {gamma}")
        return Ranked(np.argsort(selector.ranking_))

    def _checkpoint(self, run: str) -> Path | None:
        return None if self.checkpoints is None else self.checkpoints / f"{self.label}-{run}.ckpt"

    def mask(self, X: Any, y: Any, *, seed: int) -> Ranked:
        """DFS."""
        selector = DeepFeatureSelection(self.network, penalty=self.penalty, random_state=seed)
        selector.fit(X, y)
        print(f"  DFS: {selector.n_features_} of {X.shape[1]} weights are not zero", flush=True)
        return Ranked(np.argsort(selector.ranking_), int((selector.mask_ == 0).sum()))


def _print_cost(selector: SaliencySelector, whole: float, title: str) -> None:
    history = selector.history_
    training, saliency = history["training_seconds"].sum(), history["saliency_seconds"].sum()
    if training < whole:  # else most of it was read from the checkpoint
        print(
            f"  {title}: {len(history)} rounds, {whole:.0f} s; saliency "
            f"{100 * saliency / whole:.2f} % of it, the whole {whole / training:.3f} times its "
            "trainings (one more, of the model to explain, apart)",
            flush=True,
        )
