"""How good a model is that is about to be explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLDS = 5


@dataclass(frozen=True)
class Quality:
    """A score on rows that were held out, beside that of always guessing the same.

    Attributes
    ----------
    name : {"accuracy", "balanced accuracy", "R2"}
    score : float
        Of the predictions of all folds together.
    constant : float
        Of the most frequent class, or of the mean.
    n_folds, n_rows : int
    """

    name: str
    score: float
    constant: float
    n_folds: int
    n_rows: int

    @property
    def is_poor(self) -> bool:
        """Whether a constant guess is as good."""
        return self.score <= self.constant

    @property
    def line(self) -> str:
        """In one line."""
        return (
            f"Model: {self.name} {self.score:.3f} on the other {self.n_rows:,} rows "
            f"({self.n_folds} folds); a constant guess has {self.constant:.3f}."
        )


def cross_validated(model: Any, X: NDArray[Any], y: NDArray[Any], *, seed: int) -> Quality:
    """Train clones of a model on most rows, and score what they make of the others.

    Parameters
    ----------
    model : estimator
        For classes or numbers. One that balances classes is scored so that each has the same say.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    seed : int
        Of the folds.
    """
    from sklearn.base import is_classifier

    classes = is_classifier(model)
    folds = _folds(y if classes else np.zeros(len(y)), seed)
    predicted = y.copy()
    for fold in np.unique(folds):
        held_out = folds == fold
        predicted[held_out] = _predicted(model, X[~held_out], y[~held_out], X[held_out])
    name, score, constant = (
        _of_classes(y, predicted, _balances(model)) if classes else _of_numbers(y, predicted)
    )
    return Quality(name, float(score), constant, len(np.unique(folds)), len(y))


def _folds(strata: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """The fold of each row: those of a stratum are shuffled and dealt out one by one."""
    _, codes = np.unique(strata, return_inverse=True)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(codes)), codes))
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % _FOLDS
    return folds


def _predicted(model: Any, X: NDArray[Any], y: NDArray[Any], new: NDArray[Any]) -> Any:
    from sklearn.base import clone

    if len(np.unique(y)) == 1:  # the only row of the other class is held out
        return y[0]
    return clone(model).fit(X, y).predict(new)


def _balances(model: Any) -> bool:
    settings = model.get_params()
    return settings.get("class_weight") == "balanced" or bool(settings.get("balanced"))


def _of_classes(
    y: NDArray[Any], predicted: NDArray[Any], balanced: bool
) -> tuple[str, float, float]:
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    _, counts = np.unique(y, return_counts=True)
    if balanced:
        return "balanced accuracy", balanced_accuracy_score(y, predicted), 1 / len(counts)
    return "accuracy", accuracy_score(y, predicted), counts.max() / len(y)


def _of_numbers(y: NDArray[Any], predicted: NDArray[Any]) -> tuple[str, float, float]:
    from sklearn.metrics import r2_score

    return "R2", r2_score(y, predicted), 0.0
