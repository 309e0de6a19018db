"""What an expert asks of a model, feature by feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

from ..arrays import Matrix
from ..exceptions import InputError
from .programs.limits import Limit

# Each limit on a size from below leaves two signs to try, where both are possible.
_MOST_SIGN_PATTERNS = 256


@dataclass(frozen=True)
class Constraint:
    """``low <= size <= high`` of a feature's weight, or of the weight itself if it is signed.

    Attributes
    ----------
    feature : int
    name : str
        What messages call the feature.
    low, high : float
        Infinite where there is no limit.
    signed : bool
        Whether it is about the weight with its sign; else about its size.
    """

    feature: int
    name: str
    low: float
    high: float
    signed: bool = False

    def __str__(self) -> str:
        what = f"weight of {self.name!r}" if self.signed else f"|weight| of {self.name!r}"
        if self.low == self.high:
            return f"{what} = {self.low:g}"
        parts = [f">= {self.low:g}"] if self.low > (-math.inf if self.signed else 0.0) else []
        parts += [f"<= {self.high:g}"] if math.isfinite(self.high) else []
        return f"{what} {' and '.join(parts)}" if parts else f"{what} at will"

    def sides(self) -> list[Limit]:
        """The limit on the weight that this is; of a size from below, one for each sign."""
        if self.signed or self.low <= 0:
            low = self.low if self.signed else -self.high
            return [Limit(self.feature, low, self.high)]
        return [
            Limit(self.feature, self.low, self.high),
            Limit(self.feature, -self.high, -self.low),
        ]


@dataclass(frozen=True)
class Wish:
    """What a user asks of a feature.

    Attributes
    ----------
    low, high : float
        Infinite where there is no limit.
    signed : bool
        Whether they are about the weight with its sign; else about its size.
    keep : bool
        Whether the feature is to be kept: ``low`` is then the cutoff, whatever that is.
    problem : int or None
        The problem that it is about, by its place; None if it is about all.
    """

    low: float
    high: float
    signed: bool
    keep: bool = False
    problem: int | None = None

    def constraint(self, feature: int, name: str, cutoff: float) -> Constraint:
        """What it comes to in a problem with this cutoff."""
        return Constraint(feature, name, cutoff if self.keep else self.low, self.high, self.signed)


def read_wish(name: str, value: Any, *, signed: bool, problem: int | None = None) -> Wish:
    """What a user has written about a feature.

    Parameters
    ----------
    name : str
        Of the feature, for messages.
    value : "drop", "keep", float or (float or None, float or None)
    signed : bool
        Whether numbers are about weights with their signs.
    problem : int, default=None
        See :class:`Wish`.

    Examples
    --------
    >>> read_wish("age", (0.5, None), signed=False)
    Wish(low=0.5, high=inf, signed=False, keep=False, problem=None)
    """
    if isinstance(value, str) and value == "drop":
        return Wish(0.0, 0.0, signed=False, problem=problem)
    if isinstance(value, str) and value == "keep":
        return Wish(0.0, math.inf, signed=False, keep=True, problem=problem)
    low, high = _ends(name, value, signed)
    if not low <= high:
        raise InputError(f"The limits of {name!r} are the wrong way round: {low:g} and {high:g}.")
    if not signed and low < 0:
        raise InputError(
            f"The size of the weight of {name!r} cannot be negative, got {low:g}. For limits on "
            "weights with their signs use signed=True."
        )
    return Wish(low, high, signed, problem=problem)


def _ends(name: str, value: Any, signed: bool) -> tuple[float, float]:
    ends = (value, value) if isinstance(value, Real) else value
    open_ends = (-math.inf if signed else 0.0, math.inf)
    try:
        low, high = (
            open_end if end is None else float(end)
            for end, open_end in zip(ends, open_ends, strict=True)
        )
    except (TypeError, ValueError):
        low = high = math.nan
    if math.isnan(low) or math.isnan(high) or low == math.inf or high == -math.inf:
        raise InputError(
            f"What is asked of {name!r} must be 'drop', 'keep', a number or a pair of numbers "
            f"(None for an open end), got {value!r}."
        )
    return low, high


def sign_patterns(
    constraints: Sequence[Constraint], signed_interval: Matrix | None = None
) -> list[list[Limit]]:
    """The limits for each choice of signs: together they are what the constraints ask.

    Parameters
    ----------
    constraints : sequence of Constraint
    signed_interval : ndarray of shape (d, 2), default=None
        What the weights cannot go beyond: signs that it rules out are left out. A constraint for
        which it rules out both keeps both.
    """
    options = [_possible(constraint.sides(), signed_interval) for constraint in constraints]
    n_patterns = math.prod(len(sides) for sides in options)
    if n_patterns > _MOST_SIGN_PATTERNS:
        raise InputError(
            f"There are {n_patterns} ways to choose the signs of weights that must not be zero. "
            "Say which: signed=True, with limits on weights."
        )
    return [list(pattern) for pattern in product(*options)]


def _possible(sides: list[Limit], signed_interval: Matrix | None) -> list[Limit]:
    if signed_interval is None:
        return sides
    low, high = signed_interval[sides[0].feature]
    return [side for side in sides if side.low <= high and side.high >= low] or sides
