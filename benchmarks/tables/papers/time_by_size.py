"""Not of a paper: processor time of whole selections, by the size of the table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from allrelevant import EBRFE, SVMRFE, RelevanceWarning, SaliencySelector
from allrelevant.datasets import make_linear_classification

from ...comparators import linear, ours, wrappers
from ...comparators.filters import mutual_information, relieff
from ..table import Column, Figures, Row, Table
from .known_truth import boruta, lassonet

SIZES = ((200, 20), (500, 100), (100, 1_000), (1_000, 200))
FOLDS = 5

Run = Callable[[np.ndarray, np.ndarray, int], Any]


def title(size: tuple[int, int]) -> str:
    return f"{size[0]:,} x {size[1]:,}"


def by_saliency(X: np.ndarray, y: np.ndarray, seed: int, *, gamma: float) -> Any:
    return SaliencySelector(SVC(), keep_fraction=gamma, n_repeats=1, random_state=seed).fit(X, y)


def by_comparator(X: np.ndarray, y: np.ndarray, seed: int, *, comparator: Callable) -> Any:
    return comparator(X, y, folds=FOLDS, seed=seed)


# Each with the sizes at which it is done within minutes.
METHODS: Mapping[str, tuple[Run, tuple[tuple[int, int], ...], bool]] = {
    "bounds": (partial(by_comparator, comparator=ours.bounds), SIZES, True),
    "SVM-RFE, one feature at a time": (lambda X, y, _: SVMRFE().fit(X, y), SIZES, True),
    "SVM-RFE, a tenth at a time": (lambda X, y, _: SVMRFE(step=0.1).fit(X, y), SIZES, True),
    "EB-RFE": (lambda X, y, _: EBRFE(n_candidates=5).fit(X, y), SIZES[:3], True),
    "saliency of an RBF SVM, gamma 0": (partial(by_saliency, gamma=0.0), SIZES, True),
    "saliency of an RBF SVM, gamma 0.9": (partial(by_saliency, gamma=0.9), SIZES, True),
    "L1-SVM, tuned": (partial(by_comparator, comparator=linear.l1_svm()), SIZES, False),
    "RFECV of scikit-learn": (partial(by_comparator, comparator=wrappers.rfecv), SIZES[:2], False),
    "mutual information": (lambda X, y, _: mutual_information(X, y), SIZES, False),
    "ReliefF": (lambda X, y, _: relieff(X, y), SIZES, False),
    "Boruta": (partial(by_comparator, comparator=boruta), SIZES[:3], False),
    "LassoNet": (partial(by_comparator, comparator=lassonet), SIZES[:1], False),
}


def measure(seed: int, _: Path, *, method: str) -> Figures:
    """After a first run on a small table, which compiles and imports what there is to."""
    warnings.simplefilter("ignore", RelevanceWarning)
    run, sizes, _ours = METHODS[method]
    run(*table(SIZES[0], seed), seed)
    found = {}
    for size in sizes:
        X, y = table(size, seed)
        start = time.process_time()
        run(X, y, seed)
        found[title(size)] = time.process_time() - start
    return found


def table(size: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Five strong and five weak features, a tenth of the labels flipped."""
    n_rows, n_features = size
    data = make_linear_classification(
        n_rows,
        n_strong=5,
        n_weak=5,
        n_irrelevant=n_features - 10,
        flip=0.1,
        random_state=seed,
    )
    return data.X, data.y


TABLES = [
    Table(
        name="time_by_size",
        title="Time by size",
        about=f"""
Processor seconds of one whole selection with the settings of the other pages, by rows x
features, on generated tables with ten relevant features and a tenth of the labels flipped;
tuned by {FOLDS} folds where there is something to tune. Compiling on first use and imports
apart. A dash: not done within minutes.
""",
        columns=[Column(title(size), title(size), 2, "") for size in SIZES],
        rows=[
            Row(
                name,
                partial(measure, method=name),
                seeds=1,
                quick=0,  # a busy machine has other times
                ours=is_ours,
            )
            for name, (_, _, is_ours) in METHODS.items()
        ],
    )
]
