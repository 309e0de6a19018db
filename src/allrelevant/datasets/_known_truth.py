"""Tables of which it is known, feature by feature, what is relevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix
from ..exceptions import InputError
from ..relevance import IRRELEVANT, STRONG, WEAK

RandomState: TypeAlias = int | np.random.RandomState | None


Weak: TypeAlias = Literal["copies", "combinations"]


Classes: TypeAlias = NDArray[np.int_]


Target: TypeAlias = NDArray[Any]


Values: TypeAlias = Callable[[np.random.RandomState, tuple[int, int]], Matrix]


class GroundTruth(NamedTuple):
    """A generated table, its target, and the class of each feature.

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
    """What a generated table is made of.

    Some features decide the target. The strong features are such features themselves. Others of
    them stay hidden, and only their stand-ins, the weak features, are in the table. The irrelevant
    features have nothing to do with the target.

    Attributes
    ----------
    n_samples, n_strong, n_weak, n_irrelevant : int
    weak : {"copies", "combinations"}
        How the hidden features appear.
    noise : float
        Standard deviation of the noise added to each feature.
    suffix : str
        What the caller's names for the counts end in; messages repeat it.

    Examples
    --------
    >>> import numpy as np
    >>> plan = TableSpec(5, n_strong=1, n_weak=2, n_irrelevant=1)
    >>> rng = np.random.RandomState(0)
    >>> deciding = plan.deciding(rng)
    >>> deciding.shape, plan.table(deciding, rng).shape
    ((5, 2), (5, 4))
    >>> [str(r) for r in plan.relevance]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    n_samples: int
    n_strong: int
    n_weak: int
    n_irrelevant: int
    weak: Weak = "copies"
    noise: float = 0.0
    suffix: str = ""

    def __post_init__(self) -> None:
        _check_counts(self)
        if self.weak not in _STAND_INS:
            raise InputError(f'weak must be "copies" or "combinations", got {self.weak!r}.')
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise must be a number of at least 0, got {self.noise}.")

    @property
    def n_deciding(self) -> int:
        return self.n_strong + self.n_weak // 2

    @property
    def relevance(self) -> NDArray[np.str_]:
        """Class of each feature of the table, shape (n_strong + n_weak + n_irrelevant,)."""
        counts = [self.n_strong, self.n_weak, self.n_irrelevant]
        return np.repeat([STRONG, WEAK, IRRELEVANT], counts)

    def deciding(self, rng: np.random.RandomState, values: Values = normal_values) -> Matrix:
        """The features that decide, shape (n_samples, n_deciding); the last ones stay hidden."""
        return values(rng, (self.n_samples, self.n_deciding))

    def table(
        self, deciding: Matrix, rng: np.random.RandomState, values: Values = normal_values
    ) -> Matrix:
        """The table in the order strong, weak, irrelevant, with its noise."""
        strong, hidden = deciding[:, : self.n_strong], deciding[:, self.n_strong :]
        stand_ins = _STAND_INS[self.weak](hidden, self.n_weak, rng)
        X = np.hstack([strong, stand_ins, values(rng, (self.n_samples, self.n_irrelevant))])
        X += self.noise * rng.normal(size=X.shape)
        return X


def check_flip(flip: float) -> None:
    """From a half on, flipped labels would be the rule."""
    if not 0 <= flip < 0.5:
        raise InputError(f"flip must be at least 0 and below 0.5, got {flip}.")


def rows_to_flip(n_samples: int, flip: float, rng: np.random.RandomState) -> NDArray[np.int_]:
    """Places of the share ``flip`` of the rows, drawn at random."""
    return rng.permutation(n_samples)[: round(flip * n_samples)]


def _copies(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    source = np.sort(np.arange(n_weak) % max(1, hidden.shape[1]))
    return hidden[:, source] if n_weak else np.empty((len(hidden), 0))


def _combinations(hidden: Matrix, n_weak: int, rng: np.random.RandomState) -> Matrix:
    # Positive shares: every combination points the way of the target, so each is informative.
    shares = rng.uniform(0.5, 1.5, size=(hidden.shape[1], n_weak))
    return hidden @ (shares / np.linalg.norm(shares, axis=0))


_STAND_INS = {"copies": _copies, "combinations": _combinations}


def _check_counts(plan: TableSpec) -> None:
    weak, strong = f"n_weak{plan.suffix}", f"n_strong{plan.suffix}"
    if plan.n_samples < 2:
        raise InputError(f"n_samples must be at least 2, got {plan.n_samples}.")
    if min(plan.n_strong, plan.n_weak, plan.n_irrelevant) < 0:
        raise InputError("The numbers of features cannot be negative.")
    if plan.n_weak == 1:
        raise InputError(f"A single weak feature has nothing to replace it: {weak} is 0 or >= 2.")
    if plan.n_strong + plan.n_weak == 0:
        raise InputError(f"At least one feature must decide the target: {strong} + {weak} is 0.")
