"""Intervals along a path of a setting: what the report says of them, and how it draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..bounds.path import BoundsPath, stretches

MAX_PANELS = 40

# Of the drawing of one feature, in units of its own.
_WIDTH, _HEIGHT = 100.0, 40.0


@dataclass(frozen=True)
class Band:
    """A stretch of one class: the outline of the band there."""

    relevance: str
    points: str


@dataclass(frozen=True)
class Panel:
    """One feature: its bands, and the line of the baseline's weight."""

    name: str
    bands: list[Band]
    baseline: str
    ranges: list[Mapping[str, Any]]


def summarize_path(path: BoundsPath) -> dict[str, Any]:
    """A path as plain values that JSON can hold.

    Parameters
    ----------
    path : BoundsPath

    Returns
    -------
    dict
        ``param``, ``values`` and for each feature ``name``, ``lower``, ``upper``, ``baseline``,
        ``relevance`` at each value, and ``ranges``: from which value to which it keeps its class.
    """
    return {
        "param": path.param,
        "values": path.values.tolist(),
        "features": [
            {
                "name": name,
                "lower": path.interval[:, j, 0].tolist(),
                "upper": path.interval[:, j, 1].tolist(),
                "baseline": path.baseline[:, j].tolist(),
                "relevance": path.relevance[:, j].tolist(),
                "ranges": [
                    {
                        "relevance": relevance,
                        "first": float(path.values[start]),
                        "last": float(path.values[stop - 1]),
                    }
                    for relevance, start, stop in stretches(path.relevance[:, j])
                ],
            }
            for j, name in enumerate(path.feature_names)
        ],
    }


def path_panels(path: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The drawings of the features with these names, in this order, the first of them.

    Parameters
    ----------
    path : mapping
        What :func:`summarize_path` gave.
    names : sequence of str
    """
    by_name = {feature["name"]: feature for feature in path["features"]}
    shown = [by_name[name] for name in names if name in by_name][:MAX_PANELS]
    end = max((max(feature["upper"]) for feature in shown), default=0.0) or 1.0
    places = _places(path["values"])
    return {
        "param": path["param"],
        "first": path["values"][0],
        "last": path["values"][-1],
        "end": end,
        "n_features": len(path["features"]),
        "panels": [_panel(feature, places, end) for feature in shown],
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _panel(feature: Mapping[str, Any], places: Sequence[float], end: float) -> Panel:
    def point(index: int, value: float) -> str:
        return f"{places[index]:.2f},{_HEIGHT * (1.0 - value / end):.2f}"

    bands = []
    for relevance, start, stop in stretches(feature["relevance"]):
        # A band reaches to the next value, where the next class begins.
        part = range(start, min(stop + 1, len(places)))
        upper = [point(i, feature["upper"][i]) for i in part]
        lower = [point(i, feature["lower"][i]) for i in reversed(part)]
        bands.append(Band(relevance, " ".join(upper + lower)))
    baseline = [point(i, min(abs(w), end)) for i, w in enumerate(feature["baseline"])]
    return Panel(feature["name"], bands, " ".join(baseline), feature["ranges"])


def _places(values: Sequence[float]) -> list[float]:
    """Where the values go from left to right: by their logarithm, if they have one."""
    if len(values) == 1:
        return [_WIDTH / 2.0]
    scale = math.log if values[0] > 0 else float
    first, last = scale(values[0]), scale(values[-1])
    return [_WIDTH * (scale(value) - first) / (last - first) for value in values]
