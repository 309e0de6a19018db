"""Tables with known null features, for measuring the calibration of relevance classes.

Each design returns a table, a target and a mask of the features that may be found: False for
features that are independent of the target and of all other features that may be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allrelevant import ClassificationBounds, OrdinalBounds, RankingBounds, RegressionBounds
from allrelevant.datasets import make_linear_classification


class Design(NamedTuple):
    """A table, its target, and a mask that is False for null features."""

    X: Any
    y: NDArray[Any]
    may_be_found: NDArray[np.bool_]


Generator = Callable[[np.random.RandomState], Design]


def autocorrelated(n: int, d: int, rho: float, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Return columns of unit variance, each correlated with its neighbors."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def one_hot(n: int, n_variables: int, n_levels: int, rng: np.random.RandomState) -> Any:
    """Return indicator columns of independent categorical variables."""
    levels = rng.randint(n_levels, size=(n, n_variables))
    return (levels[:, :, None] == np.arange(n_levels)).reshape(n, -1).astype(float)


def noisy_copies(n: int, d: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    X = rng.standard_normal((n, d))
    return np.hstack([X, X + 0.1 * rng.standard_normal((n, d))])


def rare_and_lognormal(n: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    return np.hstack([(rng.rand(n, 10) < 0.05).astype(float), np.exp(rng.standard_normal((n, 10)))])


def labels(n: int, rng: np.random.RandomState, positive: float = 0.5) -> NDArray[np.int_]:
    """Return two classes in random order with a fixed fraction of positive labels."""
    return rng.permutation((np.arange(n) < positive * n).astype(int))


def noise(
    make: Callable[..., Any], target: Callable[..., Any], rng: np.random.RandomState
) -> Design:
    """Return a table and a target that is independent of its features."""
    X = make(rng=rng)
    return Design(X, target(X.shape[0], rng), np.zeros(X.shape[1], dtype=bool))


def independent(n: int, d: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    return rng.standard_normal((n, d))


def sparse_columns(n: int, d: int, rng: np.random.RandomState) -> Any:
    return sp.random_array((n, d), density=0.1, rng=rng, format="csr")


BALANCED_NOISE: dict[str, Generator] = {
    "copies": partial(noise, partial(noisy_copies, 200, 10), labels),
    "one-hot": partial(noise, partial(one_hot, 200, 6, 4), labels),
    "rare and lognormal": partial(noise, partial(rare_and_lognormal, 200), labels),
    "AR 0.5": partial(noise, partial(autocorrelated, 200, 30, 0.5), labels),
    "AR 0.8": partial(noise, partial(autocorrelated, 200, 30, 0.8), labels),
    "900 x 14": partial(noise, partial(independent, 900, 14), labels),
    "200 x 30": partial(noise, partial(independent, 200, 30), labels),
}

_TABLE = partial(independent, 200, 20)

OTHER_NOISE: dict[str, tuple[type, Generator]] = {
    "25% positive": (
        ClassificationBounds,
        partial(noise, _TABLE, partial(labels, positive=0.25)),
    ),
    "three classes": (
        ClassificationBounds,
        partial(noise, _TABLE, lambda n, rng: rng.permutation(np.arange(n) % 3)),
    ),
    "regression": (
        RegressionBounds,
        partial(noise, _TABLE, lambda n, rng: rng.standard_normal(n)),
    ),
    "ordinal": (
        OrdinalBounds,
        partial(noise, _TABLE, lambda n, rng: rng.permutation(np.arange(n) % 4)),
    ),
    "ranking": (
        RankingBounds,
        partial(noise, _TABLE, partial(labels, positive=0.3)),
    ),
    "sparse": (ClassificationBounds, partial(noise, partial(sparse_columns, 200, 20), labels)),
}


def with_permuted_copy(X: Any, y: Any, rng: np.random.RandomState) -> Design:
    """Append a copy of the table with permuted rows, whose columns are null features."""
    copy = X[rng.permutation(len(X))]
    return Design(np.hstack([X, copy]), y, np.arange(2 * X.shape[1]) < X.shape[1])


def with_noise(X: Any, y: Any, make: Callable[..., Any], rng: np.random.RandomState) -> Design:
    """Append noise columns to a table."""
    extra = make(len(X), rng)
    return Design(np.hstack([X, extra]), y, np.arange(X.shape[1] + extra.shape[1]) < X.shape[1])


def ar_blocks(rng: np.random.RandomState) -> Design:
    """Return four blocks of ten correlated columns; the target depends on two blocks."""
    X = np.hstack([autocorrelated(150, 10, 0.9, rng) for _ in range(4)])
    y = (X[:, 4] + X[:, 14] + 0.5 * rng.standard_normal(150) > 0).astype(int)
    return Design(X, y, np.arange(40) < 20)


def flipped(rng: np.random.RandomState) -> Design:
    """Return 150 rows with 10 relevant and 30 null features, and 20 % flipped labels."""
    data = make_linear_classification(
        150, n_strong=4, n_weak=6, n_irrelevant=30, flip=0.2, random_state=rng
    )
    return Design(data.X, data.y, np.asarray(data.relevance) != "irrelevant")


HEAVY_TAILS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "lognormal": lambda rng, shape: np.exp(1.5 * rng.standard_normal(shape)),
}


def heavy_tailed(
    tail: str, saturates: bool, is_numeric: bool, noise: float, rng: np.random.RandomState
) -> Design:
    """Return 150 rows with 4 relevant and 16 null features, all of them heavy-tailed.

    The target is a sum of the relevant features, or of their arctangents if the effect saturates,
    plus normal noise with ``noise`` times their interquartile range. It is a number or one of two
    classes of equal size.
    """
    X = HEAVY_TAILS[tail](rng, (150, 20))
    effect = np.arctan(X) if saturates else X
    signal = effect[:, :4] @ np.array([1.0, -1.0, 1.0, -1.0])
    deviation = np.subtract(*np.quantile(signal, (0.75, 0.25))) / 1.35
    noisy = signal + noise * deviation * rng.standard_normal(150)
    y = noisy if is_numeric else (noisy > np.median(noisy)).astype(int)
    return Design(X, y, np.arange(20) < 4)


def wide(rng: np.random.RandomState) -> Design:
    """Return 90 rows with 10 relevant and 490 null features."""
    data = make_linear_classification(90, n_strong=4, n_weak=6, n_irrelevant=490, random_state=rng)
    return Design(data.X, data.y, np.asarray(data.relevance) != "irrelevant")


WIDE_NOISE: Generator = partial(noise, partial(independent, 90, 500), labels)


@dataclass(frozen=True)
class RealTable:
    """A real table, whose relevant features are not known."""

    name: str
    estimator: type
    X: NDArray[np.float64]
    y: NDArray[Any]

    @property
    def is_regression(self) -> bool:
        return self.estimator is RegressionBounds

    def split(self, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return training rows and 30% held-out rows, stratified by class."""
        stratify = None if self.is_regression else self.y
        rows = np.arange(len(self.y))
        train, test = train_test_split(rows, test_size=0.3, random_state=seed, stratify=stratify)
        return train, test

    def score(
        self, train: NDArray[np.intp], test: NDArray[np.intp], columns: NDArray[np.bool_]
    ) -> float:
        """Return the held-out score of a linear model: R² or balanced accuracy."""
        model = RidgeCV() if self.is_regression else LogisticRegression(max_iter=5000)
        pipeline = make_pipeline(StandardScaler(), model if columns.any() else self._dummy())
        X = self.X[:, columns] if columns.any() else self.X
        predicted = pipeline.fit(X[train], self.y[train]).predict(X[test])
        score = r2_score if self.is_regression else balanced_accuracy_score
        return float(score(self.y[test], predicted))

    def _dummy(self) -> Any:
        return DummyRegressor() if self.is_regression else DummyClassifier()


def real_tables(folder: Path | None) -> list[RealTable]:
    """Return the tables of scikit-learn and those in the folder."""
    tables = [
        RealTable("breast cancer", ClassificationBounds, *load_breast_cancer(return_X_y=True)),
        RealTable("wine, three classes", ClassificationBounds, *load_wine(return_X_y=True)),
        RealTable("diabetes, regression", RegressionBounds, *load_diabetes(return_X_y=True)),
    ]
    return tables + [
        RealTable(name, ClassificationBounds, *_load(path))
        for name, path in _paths(folder, ("parkinsons", "ionosphere", "sonar"))
    ]


def _paths(folder: Path | None, names: Iterable[str]) -> list[tuple[str, Path]]:
    paths = [] if folder is None else [(name, folder / f"{name}.npz") for name in names]
    return [(name, path) for name, path in paths if path.exists()]


def _load(path: Path) -> tuple[NDArray[np.float64], NDArray[Any]]:
    with np.load(path, allow_pickle=False) as data:
        return data["X"].astype(float), data["y"]


def known_nulls(folder: Path | None) -> Mapping[str, Generator]:
    """Return generators of tables with null features; real tables are read from the folder."""
    X, y = load_breast_cancer(return_X_y=True)
    designs: dict[str, Generator] = {
        "breast cancer, 8 columns, noisy copies": partial(
            with_noise, X[:, :8], y, lambda n, rng: noisy_copies(n, 8, rng)
        ),
        "breast cancer, 8 columns, one-hot noise": partial(
            with_noise, X[:, :8], y, lambda n, rng: one_hot(n, 5, 4, rng)
        ),
        "AR 0.9, 150 x 40": ar_blocks,
        "150 x 40, 20% flipped": flipped,
    }
    for name, path in _paths(folder, ("parkinsons", "ionosphere")):
        designs[f"{name}, permuted copy"] = partial(with_permuted_copy, *_load(path))
    return designs
