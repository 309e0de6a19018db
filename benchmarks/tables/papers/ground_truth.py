"""Precision, recall and F1 of feature selection methods on data with known ground truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from ...comparators import fri_peer, linear, relevance_bounds, wrappers
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
OTHER_METHODS = """\
Methods without values in italics are not in the paper. "Forward / backward" is the union of
the features selected by forward and by backward selection with a linear SVM. RFECV is
scikit-learn's recursive feature elimination with cross-validation, also with a linear SVM. Mutual
information and ReliefF rank the features. The number of selected features is then chosen to
maximize the cross-validated accuracy of a linear SVM. LassoNet was run on three instances only,
with a single train/test split instead of cross-validation. The package fri, which is by authors of
the papers, was run with its default settings.

"Bounds" uses the default rule for relevance, a test with a false discovery rate of 0.05. "Bounds,
cutoff from probes" uses the rule of the papers, a cutoff that is estimated from permuted
columns."""


def boruta(X: Data, y: Classes, *, folds: int, seed: int) -> Chosen:
    from ...comparators.forests import boruta

    return boruta(X, y, folds=folds, seed=seed)


def lassonet(X: Data, y: Classes, *, folds: int, seed: int) -> Chosen:
    from ...comparators.networks import lassonet

    return lassonet(X, y, folds=folds, seed=seed)


# Comparator, number of seeds, and number of seeds in a quick run.
IN_NO_PAPER: Mapping[str, tuple[Comparator, int, int]] = {
    "RFECV": (wrappers.rfecv, 10, 2),
    "mutual information": (wrappers.mim, 10, 2),
    "ReliefF": (wrappers.relief, 10, 2),
    "LassoNet": (lassonet, 3, 0),
    "fri 9.0.0": (fri_peer.fri, 10, 1),
}
IN_PAPERS: Mapping[str, tuple[Comparator, int, int]] = {
    "lasso": (linear.lasso(), 10, 2),
    "L1-SVM": (linear.l1_svm(), 10, 2),
    "Boruta": (boruta, 10, 1),
    "forward / backward": (wrappers.forward_backward, 10, 1),
}
OURS: Mapping[str, Comparator] = {
    "bounds": relevance_bounds.bounds,
    "bounds, cutoff from probes": partial(relevance_bounds.bounds, cutoff="probes"),
    "bounds, joint budget": partial(relevance_bounds.bounds, formulation="joint"),
}


def measure(
    seed: int, _: Path, *, generator: Generator, comparator: Comparator, folds: int
) -> Figures:
    data = generator(random_state=seed)
    chosen = comparator(data.X, data.y, folds=folds, seed=seed)
    return scores(data.relevance != "irrelevant", chosen)


def scores(truth: np.ndarray, chosen: Chosen) -> Figures:
    """Return precision, recall and F1 score; the precision is 0 if no feature is selected."""
    n_correct = float((truth & chosen).sum())
    return {
        "precision": n_correct / max(chosen.sum(), 1),
        "recall": n_correct / truth.sum(),
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
    """Return the rows of `allrelevant`, of the papers' comparators and of other packages."""
    comparators: dict[str, tuple[Comparator, int, int]] = {
        **{name: (comparator, 10, 2) for name, comparator in OURS.items()},
        "ridge (L2-SVM)": (ridge, 10, 2),
        "elastic net": (elastic_net, 10, 2),
        **IN_PAPERS,
        **IN_NO_PAPER,
    }
    run: Callable[..., Figures] = partial(measure, generator=generator, folds=folds)
    return [
        Row(
            name,
            partial(run, comparator=comparator),
            dict(
                zip(
                    ("precision", "recall", "F1"),
                    published.get("bounds" if name in OURS else name, ()),
                    strict=False,
                )
            ),
            seeds=seeds,
            quick=quick,
            is_ours=name in OURS,
        )
        for name, (comparator, seeds, quick) in comparators.items()
    ]
