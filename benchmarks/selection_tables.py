"""Tables for the comparison of selectors: small, wide, imbalanced and multi-class tables.

``DEVELOPMENT`` tables were used to choose defaults, and ``CONFIRMATION`` tables to confirm them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split


@dataclass(frozen=True)
class Table:
    """A table, its classes and, for some tables, groups of rows that belong together."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None = None

    def outer_folds(self, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the folds on which selections are evaluated."""
        kind = StratifiedKFold if self.groups is None else StratifiedGroupKFold
        folds = kind(n_folds, shuffle=True, random_state=seed)
        return list(folds.split(self.X, self.y, self.groups))

    def permuted(self, seed: int) -> Table:
        """Return the table with permuted classes."""
        return Table(self.X, np.random.RandomState(seed).permutation(self.y), None)


Loader = Callable[[Path], Table]


def bundled(load: Callable[..., Any], n_rows: int | None, _: Path) -> Table:
    X, y = load(return_X_y=True)
    return sample(X, y, n_rows)


def stored(name: str, n_rows: int | None, folder: Path) -> Table:
    data = np.load(folder / f"{name}.npz")
    X = data["X"].astype(float)
    if "subject" in data:
        persons = np.array(["_".join(name.split("_")[:3]) for name in data["subject"].tolist()])
        return Table(X, data["y"].astype(int), persons)
    return sample(X, data["y"].astype(int), n_rows)


def most_variable(name: str, n_features: int, folder: Path) -> Table:
    """Return a table with the features of the largest variance."""
    table = stored(name, None, folder)
    order = np.argsort(-table.X.var(axis=0), kind="stable")
    return Table(table.X[:, np.sort(order[:n_features])], table.y)


def above_median(name: str, folder: Path) -> Table:
    """Return a table with a numeric target, split at the median."""
    data = np.load(folder / f"{name}.npz")
    return Table(data["X"].astype(float), (data["y"] > np.median(data["y"])).astype(int))


def few_positives(name: str, n_positives: int, folder: Path) -> Table:
    """Return a table with only some rows of the class 1, sorted by class."""
    table = stored(name, None, folder)
    positives = np.flatnonzero(table.y == 1)
    kept = np.random.RandomState(0).choice(positives, n_positives, replace=False)
    rows = np.r_[np.flatnonzero(table.y == 0), np.sort(kept)]
    return Table(table.X[rows], table.y[rows])


def generated(_: Path) -> Table:
    """Return 400 rows with 166 features, 15% of them in class 1, sorted by class."""
    X, y = make_classification(
        400,
        166,
        n_informative=8,
        n_redundant=8,
        weights=[0.85],
        class_sep=0.8,
        random_state=0,
    )
    order = np.argsort(y, kind="stable")
    return Table(X[order], y[order])


def sample(X: np.ndarray, y: np.ndarray, n_rows: int | None) -> Table:
    """Return a stratified sample of the rows; all rows for None."""
    X = np.asarray(X, dtype=float)
    if n_rows is None:
        return Table(X, y)
    rows, _ = train_test_split(np.arange(len(y)), train_size=n_rows, stratify=y, random_state=0)
    return Table(X[rows], y[rows])


DEVELOPMENT: dict[str, Loader] = {
    "breast cancer": partial(bundled, load_breast_cancer, None),
    "wine": partial(bundled, load_wine, None),
    "sonar": partial(stored, "sonar", None),
    "spambase, 600 rows": partial(stored, "spambase", 600),
    "musk1, 40 positives": partial(few_positives, "musk1", 40),
    "five classes": partial(stored, "league/synthselect_5class_multicut", None),
    "colon": partial(stored, "colon_alon", None),
    "leukemia": partial(stored, "leukemia_golub", None),
    "christensen": partial(stored, "league/gene_christensen", None),
    "west": partial(stored, "league/gene_west", None),
}

CONFIRMATION: dict[str, Loader] = {
    "ionosphere": partial(stored, "ionosphere", None),
    "parkinsons": partial(stored, "parkinsons", None),
    "digits, 400 rows": partial(bundled, load_digits, 400),
    "generated, 15% positives": generated,
    "y is x": partial(stored, "league/synthselect_y_is_x", None),
    "wine spectra": partial(above_median, "wine_nir"),
    "riboflavin": partial(above_median, "riboflavin"),
    "gravier": partial(stored, "league/gene_gravier", None),
    "pomeroy": partial(stored, "league/gene_pomeroy", None),
    "sorlie": partial(stored, "league/gene_sorlie", None),
    "su": partial(stored, "league/gene_su", None),
    "gordon, 2,000 genes": partial(most_variable, "league/gene_gordon", 2_000),
}

TABLES = {**DEVELOPMENT, **CONFIRMATION}
