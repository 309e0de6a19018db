"""Specification of generated tables, whose features have known relevance classes."""

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
    """Generated table, its target, and the relevance class of each feature.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Integers for classes, floats for a numeric target, a structured array for survival.
    relevance : ndarray of shape (n_features,)
        Relevance class: ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    """

    X: Matrix
    y: Target
    relevance: NDArray[np.str_]


def normal_values(rng: np.random.RandomState, shape: tuple[int, int]) -> Matrix:
    """Draw an array of independent standard normal values."""
    return rng.normal(size=shape)


@dataclass(frozen=True)
class TableSpec:
    """Specification of a generated table: size, relevance classes of the features, and noise.

    The target is a function of the informative features. Some of them are in the table: the strong
    features. The others are hidden, and the table contains only substitutes for them: the weak
    features. The irrelevant features are independent of the target. Messages append ``suffix`` to
    the parameter names ``n_strong``, ``n_weak`` and ``n_irrelevant``.
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
        counts = (self.n_strong, self.n_weak, self.n_irrelevant)
        if self.n_samples < 2:
            raise InputError(f"n_samples must be at least 2 (got {self.n_samples}).")
        if min(counts) < 0:
            raise InputError(
                f"{strong}, {weak} and n_irrelevant{self.suffix} must not be negative (got "
                f"{', '.join(map(str, counts))})."
            )
        if self.n_weak == 1:
            raise InputError(
                f"{weak} must be 0 or at least 2 (got 1), because a single weak feature has no "
                "substitute."
            )
        if self.n_strong + self.n_weak == 0:
            raise InputError(
                f"{strong} + {weak} must be positive (got 0), because the target depends on these "
                "features."
            )
        if self.weak not in _SUBSTITUTES:
            raise InputError(f'weak must be "copies" or "combinations" (got {self.weak!r}).')
        check_not_negative("noise", self.noise)

    @property
    def n_informative(self) -> int:
        return self.n_strong + self.n_weak // 2

    @property
    def relevance(self) -> NDArray[np.str_]:
        """Relevance class of each feature; shape (n_strong + n_weak + n_irrelevant,)."""
        counts = [self.n_strong, self.n_weak, self.n_irrelevant]
        return np.repeat([STRONG, WEAK, IRRELEVANT], counts)

    def draw(self, rng: np.random.RandomState) -> tuple[Matrix, Vector]:
        """Draw a table of normal features and the sum of the informative features per row."""
        informative = self.draw_informative(rng)
        return self.table(informative, rng), informative.sum(axis=1)

    def draw_informative(
        self, rng: np.random.RandomState, values: Values = normal_values
    ) -> Matrix:
        """Draw the informative features, with the hidden ones in the last columns."""
        return values(rng, (self.n_samples, self.n_informative))

    def table(
        self, informative: Matrix, rng: np.random.RandomState, values: Values = normal_values
    ) -> Matrix:
        """Return a noisy table with strong, weak and irrelevant features, in this order."""
        strong, hidden = informative[:, : self.n_strong], informative[:, self.n_strong :]
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
        raise InputError(f"{name} must be finite and at least 0 (got {value}).")


def check_flip(flip: float) -> None:
    """Raise unless ``flip``, the fraction of flipped labels, is at least 0 and below 0.5."""
    if not 0 <= flip < 0.5:
        raise InputError(f"flip must be at least 0 and below 0.5 (got {flip}).")


def rows_to_flip(n_samples: int, flip: float, rng: np.random.RandomState) -> NDArray[np.int_]:
    """Draw the indices of the rows whose labels are flipped, given their fraction ``flip``."""
    return rng.permutation(n_samples)[: round(flip * n_samples)]
