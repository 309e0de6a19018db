"""Models and multipliers that satisfy all constraints exactly, without rounding errors.

Solvers return models that exceed a budget by rounding errors, and multipliers that cancel the
offsets only up to rounding. :class:`RationalModels` changes both by about as much as these errors,
and evaluates them with the fractions of :mod:`allrelevant.proof_checker`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..exceptions import InputError
from ..proof_checker import Problem
from .programs.equivalent_models import EquivalentModels

# Multipliers are rounded to this number of bits, and sums of them have at most SUM_BITS.
MULTIPLIER_BITS, SUM_BITS = 50, 62

# Integers up to this one are float64.
MAX_INTEGER = 2**53

# Fractions by which a model is moved into the interior of the set, to find a model with a distance
# from all limits.
INWARD_STEPS = (0.0, *(10.0**-k for k in range(12, 1, -1)))


@dataclass(frozen=True)
class RationalModels:
    """Set of models with exact limits; ``weights`` are the indices of the weights that it keeps.

    ``problem`` is the same set, in fractions.
    """

    models: EquivalentModels
    weights: NDArray[np.intp]
    problem: Problem

    def rooms(self, coef: Vector, offset: Vector) -> tuple[float, float, float]:
        """Return the distances of a model from the limits of norm, loss and hard constraints.

        The first two are relative to the limits, and the last is at most 1. A negative distance
        means that the model is outside.
        """
        problem = self.problem
        norm, loss, violation = problem.measure(self.describe(coef, offset))
        return (
            _relative(problem.norm - norm, problem.norm),
            _relative(problem.loss - loss, problem.loss),
            -float(violation),
        )

    @cached_property
    def center(self) -> tuple[Vector, Vector]:
        """Baseline, moved so that it is exactly within all limits, if possible at a distance."""
        start = self.models.start
        assert start is not None
        order = np.arange(len(start.offset))
        candidates = [
            ((1.0 - step) * start.coef, start.offset + step * order) for step in INWARD_STEPS
        ]
        rooms = [min(self.rooms(*candidate)) for candidate in candidates]
        best = int(np.argmax(rooms))
        if rooms[best] < 0:
            raise InputError(
                "The proof cannot be exported, because no model is strictly within the limits of "
                "norm and loss. Set norm_slack and loss_tol to positive numbers."
            )
        return candidates[best]

    def move_inside(self, coef: Vector, offset: Vector) -> tuple[Vector, Vector]:
        """Return a model near a given one that is exactly in the set.

        The step towards the center is doubled until the model is in the set.
        """
        rooms = self.rooms(coef, offset)
        if min(rooms) >= 0:
            return coef, offset
        center_coef, center_offset = self.center
        step = _step_inside(rooms, self.rooms(*self.center))
        while step < 1.0:
            moved = coef + step * (center_coef - coef), offset + step * (center_offset - offset)
            if min(self.rooms(*moved)) >= 0:
                return moved
            step *= 2.0
        return self.center

    def describe(self, coef: Vector, offset: Vector) -> dict[str, Any]:
        """Return a model as in a proof: pairs of a column and its weight, and offsets."""
        kept = coef[self.weights]
        used = np.flatnonzero(kept)
        pairs = [list(pair) for pair in zip(used.tolist(), kept[used].tolist(), strict=True)]
        return {"weights": pairs, "offsets": offset.tolist()}

    def factors(self, multipliers: Vector) -> list[list[Any]]:
        """Return dual variables as in a proof, changed so that they cancel the offsets exactly.

        They are rounded to integers times a power of two. The rest of each offset is added to a
        constraint that contains only this offset, with the opposite sign.
        """
        largest = float(multipliers.max(initial=0.0))
        if largest <= 0:
            return []
        rows = self.models.rows
        bits = min(MULTIPLIER_BITS, SUM_BITS - rows.n_rows.bit_length())
        unit = 2.0 ** (bits - math.frexp(largest)[1])
        integers = np.rint(np.maximum(multipliers, 0.0) * unit).astype(np.int64)
        table = rows.offset_table.astype(np.int64)
        is_single = ~rows.is_hard & (np.abs(table).sum(axis=1) == 1)
        for k, rest in enumerate((integers @ table).tolist()):
            if rest:
                able = np.flatnonzero(is_single & (table[:, k] == -np.sign(rest)))
                price = integers[able] / rows.weight[able]
                integers[able[np.argmin(price)]] += abs(rest)
        if integers.max() > MAX_INTEGER:  # rounding errors around zero
            return []
        used = np.flatnonzero(integers)
        values = (integers[used] / unit).tolist()
        return [list(pair) for pair in zip(used.tolist(), values, strict=True)]


def _relative(room: Fraction, limit: Fraction) -> float:
    return float(room / limit) if limit > 0 else float(room)


def _step_inside(rooms: Sequence[float], center_rooms: Sequence[float]) -> float:
    """Return the step towards the center after which a model is inside, up to rounding."""
    steps = [
        room / (room - center) if center > 0 else 1.0
        for room, center in zip(rooms, center_rooms, strict=True)
        if room < 0
    ]
    return (1.0 + 1e-6) * max(steps) + 1e-16


def round_up(value: Fraction) -> float:
    """Return the smallest float64 that is at least a fraction."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
