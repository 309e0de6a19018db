"""Geometry of plots in data units, for matplotlib figures and HTML reports.

matplotlib scales the geometry to its axes, and the report scales it to the ``viewBox`` of an SVG.
This module does not import matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..bounds.path import runs_of_equal_values


def axis_ticks(largest: float) -> list[float]:
    """Return tick positions at round numbers, from zero to at least the largest value.

    >>> axis_ticks(3.65)
    [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> axis_ticks(0.0)
    [0.0, 0.5, 1.0]
    """
    if largest <= 0.0:
        return [0.0, 0.5, 1.0]
    raw = largest / 4.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw)
    count = math.ceil(largest / step - 1e-9)
    return [round(index * step, 12) if step > 1e-9 else index * step for index in range(count + 1)]


def range_ticks(low: float, high: float) -> list[float]:
    """Return about five round tick positions within a range.

    >>> range_ticks(0.912, 0.984)
    [0.92, 0.94, 0.96, 0.98]
    """
    if high <= low:
        return [low]
    step = axis_ticks(0.8 * (high - low))[1]
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def count_axis(sizes: Sequence[int]) -> tuple[list[float], list[int]]:
    """Return positions from 0 to 1 for numbers of features, and the numbers to label.

    The axis is logarithmic if some number exceeds 100.

    >>> count_axis([5, 3, 1])
    ([1.0, 0.5, 0.0], [1, 2, 3, 4, 5])
    >>> count_axis([1000, 10, 1])[1]
    [1, 10, 100, 1000]
    """
    low, high = min(sizes), max(sizes)
    scale = math.log if high > 100 else float
    span = scale(high) - scale(low)
    if high > 100:
        labels = [10**k for k in range(9) if low <= 10**k <= high]
    else:
        labels = [int(n) for n in range_ticks(low, high) if n == int(n)]
        labels = sorted({low, *labels}) if low + 1 not in labels or high - low < 10 else labels
    return [(scale(n) - scale(low)) / span if span else 0.5 for n in sizes], labels


class CutoffLine(NamedTuple):
    """Vertical line at the cutoff for lower bounds, for upper bounds, or for both."""

    value: float
    kind: str


def cutoff_lines(lower: float, upper: float) -> list[CutoffLine]:
    """Return the lines for both cutoffs, or a single line if the cutoffs are equal."""
    if lower == upper:
        return [CutoffLine(upper, "both")]
    return [CutoffLine(upper, "upper"), CutoffLine(lower, "lower")]


class Band(NamedTuple):
    """Range of consecutive parameter values in which a feature keeps its relevance class."""

    relevance: str
    values: slice


def bands(relevance: Sequence[Any] | NDArray[Any]) -> list[Band]:
    """Group consecutive parameter values with the same relevance class into bands.

    Each band extends to the first value of the next.

    >>> bands(["weak", "weak", "strong"])
    [Band(relevance='weak', values=slice(0, 3, None)), Band(relevance='strong', \
values=slice(2, 3, None))]
    """
    return [
        Band(name, slice(start, min(stop + 1, len(relevance))))
        for name, start, stop in runs_of_equal_values(relevance)
    ]


def is_logarithmic(values: Sequence[float] | NDArray[np.float64]) -> bool:
    """Return whether ascending parameter values are drawn on a logarithmic axis."""
    return bool(values[0] > 0) and len(values) > 1


def axis_fractions(values: Sequence[float]) -> list[float]:
    """Map ascending parameter values to axis positions from 0 to 1.

    >>> axis_fractions([1.0, 10.0, 100.0])
    [0.0, 0.5, 1.0]
    """
    if len(values) == 1:
        return [0.5]
    scale = math.log if is_logarithmic(values) else float
    first, last = scale(values[0]), scale(values[-1])
    return [(scale(value) - first) / (last - first) for value in values]


def outline(heights: Sequence[float]) -> list[tuple[float, float]]:
    """Return the points along the upper edge of adjacent bars of width 1.

    >>> outline([2.0, 3.0])
    [(0, 2.0), (1, 2.0), (1, 3.0), (2, 3.0)]
    """
    return [(x, height) for i, height in enumerate(heights) for x in (i, i + 1)]


class Node(NamedTuple):
    """Point on the unit circle that represents a feature, with the angle of its label."""

    x: float
    y: float
    angle: float
    is_left: bool


def circle(n_nodes: int) -> list[Node]:
    """Return equidistant nodes on the unit circle, starting at (1, 0)."""
    nodes = []
    for index in range(n_nodes):
        angle = 2.0 * math.pi * index / n_nodes
        is_left = math.pi / 2 < angle < 3 * math.pi / 2
        degrees = math.degrees(angle) + (180.0 if is_left else 0.0)
        nodes.append(Node(math.cos(angle), math.sin(angle), degrees, is_left))
    return nodes


def links(relations: Any, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of features whose relation is at least ``threshold`` in absolute value.

    The relation of a pair is the stronger of its two directions.
    """
    for j in range(len(relations)):
        for k in range(j):
            relation = max(relations[j][k], relations[k][j], key=abs)
            if abs(relation) >= threshold:
                yield j, k, relation
