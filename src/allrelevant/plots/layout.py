"""The geometry of the drawn intervals: numbers in, places on the axis out, in percent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._text import printable, shorten

_LABEL_WIDTH = 32


@dataclass(frozen=True)
class Bar:
    """One feature: places in percent of the axis."""

    label: str
    name: str
    relevance: str
    left: float
    width: float
    baseline: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Tick:
    """A number on the axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Line:
    """A cutoff, from the top of the chart to the bottom."""

    place: float
    kind: str


@dataclass(frozen=True)
class Chart:
    """All that a drawing needs to know."""

    bars: list[Bar]
    ticks: list[Tick]
    lines: list[Line]


def layout(features: Sequence[Mapping[str, Any]], problems: Sequence[Mapping[str, Any]]) -> Chart:
    """Where the bars of features, from top to bottom, and the lines of cutoffs go.

    Cutoffs are drawn for two classes only: with more, each class has its own.
    """
    cutoff = problems[0]["cutoff"] if len(problems) == 1 else {"lower": 0.0, "upper": 0.0}
    ends = axis_ticks(max([cutoff["upper"], *(f["upper"] for f in features)]))
    end = ends[-1]
    decimals = max(0, -math.floor(math.log10(ends[1])))
    return Chart(
        bars=[_bar(feature, end) for feature in features],
        ticks=[Tick(_percent(tick, end), f"{tick:.{decimals}f}") for tick in ends],
        lines=_lines(cutoff, end),
    )


def _bar(feature: Mapping[str, Any], end: float) -> Bar:
    name = printable(feature["name"])
    left = _percent(feature["lower"], end)
    return Bar(
        label=shorten(name, _LABEL_WIDTH),
        name=name,
        relevance=feature["relevance"],
        left=left,
        width=max(_percent(feature["upper"], end) - left, 0.0),
        baseline=_percent(abs(feature["baseline"]), end),
        lower=feature["lower"],
        upper=feature["upper"],
    )


def _lines(cutoff: Mapping[str, float], end: float) -> list[Line]:
    lower, upper = cutoff["lower"], cutoff["upper"]
    if lower == upper:
        return [Line(_percent(upper, end), "both")] if upper > 0 else []
    lines = [Line(_percent(upper, end), "upper"), Line(_percent(lower, end), "lower")]
    return [line for line in lines if 0 < line.place <= 100]


def _percent(value: float, end: float) -> float:
    return round(100.0 * value / end, 3)


def axis_ticks(largest: float) -> list[float]:
    """Round numbers from zero to just beyond the largest value.

    Examples
    --------
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
