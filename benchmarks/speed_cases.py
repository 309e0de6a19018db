"""Tables for measuring speed, with the tolerances that define their equivalent models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant.bounds.baseline import Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.datasets import make_linear_classification

# Tolerances from almost none, as in the papers, to the defaults of this package.
NARROW = Tolerance(norm_slack=0.001, loss_slack=0.0, loss_tol=1e-6)
CLOSE = Tolerance(norm_slack=0.01, loss_slack=0.0, loss_tol=1e-6)
WIDE = Tolerance(norm_slack=0.1, loss_slack=0.05, loss_tol=1e-6)


@dataclass(frozen=True)
class Case:
    """A table, the settings of its equivalent models, and the methods to compare.

    ``warm_features`` is the number of features for which HiGHS with warm start is timed, None for
    all. Its time is extrapolated to all features. If ``cold`` is True, the papers' LPs and fri are
    also measured.
    """

    name: str
    load: Callable[[Path | None], ClassificationData]
    C: float
    slack: Tolerance
    warm_features: int | None = None
    cold: bool = False


def standardize(X: np.ndarray, y: np.ndarray) -> ClassificationData:
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return ClassificationData(X, np.where(y == y.max(), 1.0, -1.0), np.ones(len(y)))


def breast_cancer(folder: Path | None) -> ClassificationData:
    return standardize(*load_breast_cancer(return_X_y=True))


def generated(n: int, d: int, flip: float, folder: Path | None) -> ClassificationData:
    data = make_linear_classification(
        n, n_strong=5, n_weak=10, n_irrelevant=d - 15, flip=flip, random_state=0
    )
    return standardize(data.X, data.y)


def from_file(name: str, part: str, folder: Path | None) -> ClassificationData:
    """Load a table from the data folder, with all rows or only the training rows."""
    if folder is None or not (folder / name).exists():
        raise FileNotFoundError(name)
    arrays = np.load(folder / name)
    train = arrays["split"] == 0 if part == "train" else slice(None)
    return standardize(arrays["X"][train].astype(float), arrays["y"][train])


def make(n: int, d: int, flip: float = 0.05) -> Callable[[Path | None], ClassificationData]:
    return partial(generated, n, d, flip)


def file(name: str, part: str = "all") -> Callable[[Path | None], ClassificationData]:
    return partial(from_file, name, part)


CASES = {
    case.name: case
    for case in (
        Case("breast cancer 569 x 30", breast_cancer, 1.0, NARROW, cold=True),
        Case("500 x 100", make(500, 100), 1.0, NARROW, cold=True),
        Case("200 x 300", make(200, 300), 1.0, NARROW, cold=True),
        Case("colon 62 x 2,000", file("colon_alon.npz"), 1.0, CLOSE, 100),
        Case("leukemia 72 x 7,129", file("leukemia_golub.npz"), 1.0, CLOSE, 100),
        Case("arcene 100 x 9,920", file("arcene.npz", "train"), 1.0, CLOSE, 20),
        Case("100 x 12,600", make(100, 12_600), 1.0, CLOSE, 20),
        Case("20,000 x 20", make(20_000, 20, 0.1), 30 / 20_000, WIDE, 1),
        Case("100,000 x 20", make(100_000, 20, 0.1), 30 / 100_000, WIDE, 1),
        Case("20,000 x 200", make(20_000, 200, 0.1), 30 / 20_000, WIDE, 1),
    )
}
