"""CPU time of feature selection methods for several table sizes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from allrelevant import EBRFE, SVMRFE, RelevanceWarning, SaliencySelector
from allrelevant.datasets import make_linear_classification

from ...comparators import linear, relevance_bounds, wrappers
from ...comparators.filters import mutual_information, relieff
from ...elimination_tasks import THESIS
from ..table import Column, Figures, Row, Table
from .ground_truth import boruta, lassonet

SIZES = ((200, 20), (500, 100), (100, 1_000), (1_000, 200))
FOLDS = 5

Run = Callable[[np.ndarray, np.ndarray, int], Any]


def column_title(size: tuple[int, int]) -> str:
    return f"{size[0]:,} x {size[1]:,}"


def by_saliency(X: np.ndarray, y: np.ndarray, seed: int, *, gamma: float) -> Any:
    return SaliencySelector(
        SVC(),
        keep_fraction=gamma,
        n_repeats=1,
        n_features_to_select=0.5,
        standardize=False,
        balanced=False,
        random_state=seed,
    ).fit(X, y)


def by_elimination(X: np.ndarray, y: np.ndarray, _: int, *, selector: Any) -> Any:
    return selector.set_params(cv=StratifiedKFold(FOLDS), class_weight=None).fit(X, y)


def by_comparator(X: np.ndarray, y: np.ndarray, seed: int, *, comparator: Callable) -> Any:
    return comparator(X, y, folds=FOLDS, seed=seed)


# Function, sizes at which it takes a few minutes at most, and whether the method is ours.
METHODS: Mapping[str, tuple[Run, tuple[tuple[int, int], ...], bool]] = {
    "bounds": (partial(by_comparator, comparator=relevance_bounds.bounds), SIZES, True),
    "SVM-RFE, one feature at a time": (
        partial(by_elimination, selector=SVMRFE(**THESIS)),
        SIZES,
        True,
    ),
    "SVM-RFE, a tenth at a time": (
        partial(by_elimination, selector=SVMRFE(**{**THESIS, "step": 0.1})),
        SIZES,
        True,
    ),
    "EB-RFE": (partial(by_elimination, selector=EBRFE(n_candidates=5, **THESIS)), SIZES[:3], True),
    "saliency of an RBF SVM, gamma 0": (partial(by_saliency, gamma=0.0), SIZES, True),
    "saliency of an RBF SVM, gamma 0.9": (partial(by_saliency, gamma=0.9), SIZES, True),
    "L1-SVM, tuned": (partial(by_comparator, comparator=linear.l1_svm()), SIZES, False),
    "scikit-learn RFECV": (partial(by_comparator, comparator=wrappers.rfecv), SIZES[:2], False),
    "mutual information": (lambda X, y, _: mutual_information(X, y), SIZES, False),
    "ReliefF": (lambda X, y, _: relieff(X, y), SIZES, False),
    "Boruta": (partial(by_comparator, comparator=boruta), SIZES[:3], False),
    "LassoNet": (partial(by_comparator, comparator=lassonet), SIZES[:1], False),
}


def measure(seed: int, _: Path, *, method: str) -> Figures:
    """Return the CPU time for each table size; a first run that compiles is not timed."""
    warnings.simplefilter("ignore", RelevanceWarning)
    run, sizes, _is_ours = METHODS[method]
    run(*table(SIZES[0], seed), seed)
    seconds = {}
    for size in sizes:
        X, y = table(size, seed)
        start = time.process_time()
        run(X, y, seed)
        seconds[column_title(size)] = time.process_time() - start
    return seconds


def table(size: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Generate data with five strong and five weak features and a tenth of the labels flipped."""
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
The table shows the CPU time of one run of each method, in seconds, for four sizes of the data (rows
x features). The data are synthetic, with ten relevant features and a tenth of the labels flipped.

For the bounds and the L1-SVM, {FOLDS}-fold cross-validation chooses C. For RFECV, SVM-RFE
(recursive feature elimination with SVMs) and EB-RFE (evaluation-based RFE), it chooses the number
of features. Saliency ranks features by the gradients of an SVM with default settings. The parameter
gamma is the fraction of features kept per round; gamma 0 means a single round. For mutual
information and ReliefF, only the scores of the features are computed. All other settings are the
same as on the other results pages.

The times for each size do not include imports and compilation on first use. The columns "wall time"
and "CPU time" are totals over all sizes, including a first run on the smallest size. Methods that
would take more than a few minutes at some size were not run at that size.
""",
        columns=[Column(f"{column_title(size)}, s", column_title(size), 2, "") for size in SIZES],
        rows=[
            Row(
                name,
                partial(measure, method=name),
                seeds=1,
                quick=0,  # times depend on the computer
                is_ours=is_ours,
            )
            for name, (_, _, is_ours) in METHODS.items()
        ],
    )
]
