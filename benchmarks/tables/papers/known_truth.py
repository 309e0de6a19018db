"""Precision, recall and F1 of the methods on generated tables of known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from ...comparators import fri_peer, linear, ours, wrappers
from ...comparators.interface import Chosen, Classes, Comparator
from ...comparators.interface import Table as Data
from ...scores import f1
from ...sets import Generator
from ..table import Column, Figures, Row

COLUMNS = (
    Column("precision", "precision", better=""),
    Column("recall", "recall", better=""),
    Column("F1", "F1"),
)


def boruta(X: Data, y: Classes, *, folds: int, seed: int) -> Chosen:
    from ...comparators.forests import boruta

    return boruta(X, y, folds=folds, seed=seed)


def lassonet(X: Data, y: Classes, *, folds: int, seed: int) -> Chosen:
    from ...comparators.networks import lassonet

    return lassonet(X, y, folds=folds, seed=seed)


# Those without a row in the papers, slow ones with fewer seeds: (seeds, seeds of a quick run).
PEERS: Mapping[str, tuple[Comparator, int, int]] = {
    "RFECV": (wrappers.rfecv, 10, 2),
    "mutual information": (wrappers.mim, 10, 2),
    "ReliefF": (wrappers.relief, 10, 2),
    "LassoNet": (lassonet, 3, 0),
    "fri 9.0.0": (fri_peer.fri, 10, 1),
}
OURS: Mapping[str, Comparator] = {
    "bounds": ours.bounds,
    "bounds, one budget": partial(ours.bounds, formulation="joint"),
}
PAPERS_OWN: Mapping[str, tuple[Comparator, int, int]] = {
    "lasso": (linear.lasso(), 10, 2),
    "L1-SVM": (linear.l1_svm(), 10, 2),
    "Boruta": (boruta, 10, 1),
    "forward / backward": (wrappers.forward_backward, 10, 1),
}


def measure(
    seed: int, _: Path, *, generator: Generator, comparator: Comparator, folds: int
) -> Figures:
    data = generator(random_state=seed)
    chosen = comparator(data.X, data.y, folds=folds, seed=seed)
    return scores(data.relevance != "irrelevant", chosen)


def scores(truth: np.ndarray, chosen: Chosen) -> Figures:
    """Precision of nothing selected is 0."""
    right = float((truth & chosen).sum())
    return {
        "precision": right / max(chosen.sum(), 1),
        "recall": right / truth.sum(),
        "F1": f1(truth, chosen),
    }


def rows(
    generator: Generator,
    *,
    folds: int,
    ridge: Comparator,
    elastic_net: Comparator,
    published: Mapping[str, tuple[float, float, float]],
) -> list[Row]:
    """Ours, what the papers compare with, and peers of today."""
    comparators: dict[str, tuple[Comparator, int, int]] = {
        **{name: (comparator, 10, 2) for name, comparator in OURS.items()},
        "ridge (L2-SVM)": (ridge, 10, 2),
        "elastic net": (elastic_net, 10, 2),
        **PAPERS_OWN,
        **PEERS,
    }
    run: Callable[..., Figures] = partial(measure, generator=generator, folds=folds)
    return [
        Row(
            name,
            partial(run, comparator=comparator),
            dict(zip(("precision", "recall", "F1"), published.get(name, ()), strict=False)),
            seeds=seeds,
            quick=quick,
            ours=name in OURS,
        )
        for name, (comparator, seeds, quick) in comparators.items()
    ]
