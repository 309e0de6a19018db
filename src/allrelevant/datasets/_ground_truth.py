"""The composition of a generated table, and the known relevance of its features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import InputError
from ..relevance import IRRELEVANT, STRONG, WEAK

RandomState: TypeAlias = int | np.random.RandomState | None
Weak: TypeAlias = Literal["copies", "combinations"]
Classes: TypeAlias = NDArray[np.int_]
Target: TypeAlias = NDArray[Any]
Values: TypeAlias = Callable[[np.random.RandomState, tuple[int, int]], Matrix]


class GroundTruth(NamedTuple):
    """A generated table, its target, and the relevance class of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Integers where the target is a class, else floats.
    relevance : ndarray of shape (n_features,)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    """

    X: Matrix
    y: Target
    relevance: NDArray[np.str_]


def normal_values(rng: np.random.RandomState, shape: tuple[int, int]) -> Matrix:
    """Independent standard normal values."""
    return rng.normal(size=shape)


@dataclass(frozen=True)
class TableSpec:
    """The composition of a generated table.

    Some features determine the target. The strong features are such features themselves. Others
    are hidden: the table has only their substitutes, the weak features. The irrelevant features are
    independent of the target. Messages append ``suffix`` to the names of the numbers of features.
    """

    n_samples: int
    n_strong: int
    n_weak: int
    n_irrelevant: int
    weak: Weak = "copies"
    noise: float = 0.0
    suffix: str = ""

    def __post_init__(self) -> None:
        strong, weak = f"n_strong{self.suffix}", f"n_weak{self.suffix}"
        if self.n_samples < 2:
            raise InputError(f"n_samples must be at least 2, got {self.n_samples}.")
        if min(self.n_strong, self.n_weak, self.n_irrelevant) < 0:
            raise InputError("The numbers of features cannot be negative.")
        if self.n_weak == 1:
            raise InputError(
                f"A single weak feature has nothing to replace it: {weak} is 0 or >= 2."
            )
        if self.n_strong + self.n_weak == 0:
            raise InputError(
                f"At least one feature must decide the target: {strong} + {weak} is 0."
            )
        if self.weak not in _SUBSTITUTES:
            raise InputError(f'weak must be "copies" or "combinations", got {self.weak!r}.')
        check_not_negative("noise", self.noise)

    @property
    def n_deciding(self) -> int:
        return self.n_strong + self.n_weak // 2

    @property
    def relevance(self) -> NDArray[np.str_]:
        """Relevance class of each feature, shape (n_strong + n_weak + n_irrelevant,)."""
        counts = [self.n_strong, self.n_weak, self.n_irrelevant]
        return np.repeat([STRONG, WEAK, IRRELEVANT], counts)

    def draw(self, rng: np.random.RandomState) -> tuple[Matrix, Vector]:
        """A table of normal features, and the sum of those that decide."""
        deciding = self.deciding(rng)
        return self.table(deciding, rng), deciding.sum(axis=1)

    def deciding(self, rng: np.random.RandomState, values: Values = normal_values) -> Matrix:
        """The features that decide, shape (n_samples, n_deciding); the last ones stay hidden."""
        return values(rng, (self.n_samples, self.n_deciding))

    def table(
        self, deciding: Matrix, rng: np.random.RandomState, values: Values = normal_values
    ) -> Matrix:
        """The table in the order strong, weak, irrelevant, with its noise."""
        strong, hidden = deciding[:, : self.n_strong], deciding[:, self.n_strong :]
        weak = _SUBSTITUTES[self.weak](hidden, self.n_weak, rng)
        X = np.hstack([strong, weak, values(rng, (self.n_samples, self.n_irrelevant))])
        X += self.noise * rng.normal(size=X.shape)
        return X


def _copies(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    source = np.sort(np.arange(n_weak) % max(1, hidden.shape[1]))
    return hidden[:, source] if n_weak else np.empty((len(hidden), 0))


def _combinations(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    # With positive weights, every combination is correlated with the target.
    weights = rng.uniform(0.5, 1.5, size=(hidden.shape[1], n_weak))
    return hidden @ (weights / np.linalg.norm(weights, axis=0))


_SUBSTITUTES = {"copies": _copies, "combinations": _combinations}


def check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < np.inf:
        raise InputError(f"{name} must be a number of at least 0, got {value}.")


def check_flip(flip: float) -> None:
    """From a half on, most labels would be flipped."""
    if not 0 <= flip < 0.5:
        raise InputError(f"flip must be at least 0 and below 0.5, got {flip}.")


def rows_to_flip(n_samples: int, flip: float, rng: np.random.RandomState) -> NDArray[np.int_]:
    """Indices of the share ``flip`` of the rows, drawn at random."""
    return rng.permutation(n_samples)[: round(flip * n_samples)]
