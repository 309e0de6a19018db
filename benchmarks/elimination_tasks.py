"""Classification tasks with more features than rows, from real and from synthetic data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Task:
    """A scaled table with its classes.

    Attributes
    ----------
    name : str
    X : ndarray
        Features with the largest variance.
    y : ndarray
        Classes.
    variances : ndarray
        Variances of these features before scaling.
    n_features : int
        Number of features of the whole table.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    variances: np.ndarray
    n_features: int

    def varying_most(self, n_features: int) -> np.ndarray:
        """Return the columns with the largest variance, in their original order."""
        return self.X[:, largest(self.variances, n_features)]


# Settings of the thesis: features are ranked once on all rows, and inner scores are accuracies on
# folds of these rows. Class weights and costs differ between its setups.
THESIS: dict[str, Any] = {
    "step": 1,
    "scoring": "accuracy",
    "repeat_in_folds": False,
    "n_features_to_select": "smallest_best",
    "standardize": False,
}

# Number of features kept, those with the largest variance; Krupka uses a threshold on the variance.
KEPT = 130


def largest(variances: np.ndarray, n_features: int) -> np.ndarray:
    """Return the indices of the features with the largest variance, in the order of the table."""
    return np.sort(np.argsort(-variances, kind="stable")[:n_features])


def prepared(name: str, X: np.ndarray, y: np.ndarray, *, standardize: bool = True) -> Task:
    X = np.asarray(X, dtype=float)
    n_features = X.shape[1]
    X = X[:, largest(X.var(axis=0), KEPT)]
    variances = X.var(axis=0)
    if standardize:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Task(name, X, y, variances, n_features)


def genes(file: str, folder: Path) -> Task:
    data = np.load(folder / f"{file}.npz")
    return prepared(file, data["X"], data["y"])


def halves(file: str, folder: Path) -> Task:
    """Load a table with a numeric target, converted to two classes at the median."""
    data = np.load(folder / f"{file}.npz")
    return prepared(file, data["X"], (data["y"] > np.median(data["y"])).astype(int))


def arcene(folder: Path) -> Task:
    data = np.load(folder / "arcene.npz")
    rows = data["split"] == 0
    return prepared("arcene", data["X"][rows], data["y"][rows])


def dexter(folder: Path) -> Task:
    """Load the first 100 training texts of DEXTER, with word occurrences as features."""
    data = np.load(folder / "dexter.npz")
    X = sp.csr_array((data["data"], data["indices"], data["indptr"]), shape=tuple(data["shape"]))
    rows = np.flatnonzero(data["split"] == 0)[:100]
    occurs = (X[rows].toarray() > 0).astype(float)
    return prepared("dexter", occurs, data["y"][rows], standardize=False)


def words(seed: int, _: Path) -> Task:
    """Generate few rows of rare binary features with unbalanced classes, like Krupka's data.

    In each class, twelve features are more frequent. The other features are noise.
    """
    rng = np.random.RandomState(seed)
    n_rows, n_features, n_classes = 80, 400, 3
    y = rng.choice(n_classes, n_rows, p=[0.5, 0.3, 0.2])
    frequency = rng.uniform(0.02, 0.25, n_features)
    probability = np.tile(frequency, (n_classes, 1))
    for label in range(n_classes):
        informative = rng.choice(n_features, 12, replace=False)
        probability[label, informative] = np.clip(frequency[informative] + 0.35, 0, 0.9)
    X = (rng.rand(n_rows, n_features) < probability[y]).astype(float)
    return prepared(f"words {seed}", X, y, standardize=False)


TASKS: dict[str, Callable[[Path], Task]] = {
    "leukemia": partial(genes, "leukemia_golub"),
    "colon": partial(genes, "colon_alon"),
    "riboflavin": partial(halves, "riboflavin"),
    "wine": partial(halves, "wine_nir"),
    "arcene": arcene,
    "dexter": dexter,
    **{f"words{seed}": partial(words, seed) for seed in range(3)},
}
