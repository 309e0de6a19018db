"""The cheapest models: what the report says of them, and how it draws them.

A learned metric: what the report says of it besides its intervals, and how it draws that.

Intervals along a path of a setting: what the report says of them, and how it draws them.

What replaces what: what the report says of it, and how it draws it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..bounds.path import runs_of_equal_values
from ..plots.layout import axis_ticks

_DESIGN_WIDTH, _DESIGN_HEIGHT = 300.0, 160.0


def design_drawing(design: Mapping[str, Any]) -> dict[str, Any]:
    """Places of the models by number of features, from left to right, and by cost, upwards.

    Parameters
    ----------
    design : mapping
        What :func:`summarize_design` gave.
    """
    models, baseline = design["models"], design["baseline"]
    costs = axis_ticks(max([baseline["cost"], *(model["cost"] for model in models)]))
    most = max([baseline["n_features"], *(len(model["features"]) for model in models)]) + 1

    def place(n_features: int, cost: float) -> dict[str, float]:
        return {
            "x": round(_DESIGN_WIDTH * n_features / most, 2),
            "y": round(_DESIGN_HEIGHT * (1.0 - cost / costs[-1]), 2),
        }

    return {
        "marks": [
            {**place(len(model["features"]), model["cost"]), "proven": model["proven"]}
            for model in models
        ],
        "baseline": place(baseline["n_features"], baseline["cost"]),
        "costs": [{"label": f"{cost:g}", "y": place(0, cost)["y"]} for cost in costs],
        "numbers": [
            {"label": str(n), "x": place(n, 0.0)["x"]}
            for n in range(0, most + 1, max(1, -(-most // 10)))
        ],
        "width": _DESIGN_WIDTH,
        "height": _DESIGN_HEIGHT,
    }


MAX_ROWS_DRAWN = 3


# Of one drawing, in units of its own.
_METRIC_WIDTH, _METRIC_HEIGHT = 100.0, 40.0


def metric_drawings(metric: Mapping[str, Any]) -> dict[str, Any]:
    """The outlines to draw.

    Parameters
    ----------
    metric : mapping
        What :func:`summarize_metric` gave.
    """
    rows = metric["rows"][:MAX_ROWS_DRAWN]
    return {
        "width": _METRIC_WIDTH,
        "height": _METRIC_HEIGHT,
        "n_rows": len(metric["rows"]),
        "rows": [_row_drawing(row) for row in rows],
        "curve": None if metric["curve"] is None else _curve_drawing(metric),
    }


def _row_drawing(row: Mapping[str, Any]) -> dict[str, Any]:
    top = max(row["upper"]) or 1.0
    raw = None if row["raw"] is None else [abs(weight) for weight in row["raw"]]
    return {
        "raw": None if raw is None else _skyline(raw, max(raw) or 1.0),
        "raw_top": None if raw is None else max(raw),
        "upper": _skyline(row["upper"], top),
        "lower": _skyline(row["lower"], top),
        "top": top,
    }


def _skyline(heights: Sequence[float], top: float) -> str:
    """The outline of bars side by side, as points of a polygon."""
    step = _METRIC_WIDTH / len(heights)
    points = [f"0,{_METRIC_HEIGHT:g}"]
    for index, height in enumerate(heights):
        y = _METRIC_HEIGHT * (1.0 - height / top)
        points += [f"{index * step:.2f},{y:.2f}", f"{(index + 1) * step:.2f},{y:.2f}"]
    return " ".join([*points, f"{_METRIC_WIDTH:g},{_METRIC_HEIGHT:g}"])


def _curve_drawing(metric: Mapping[str, Any]) -> dict[str, Any]:
    curve = metric["curve"]
    dimensions = curve["dimensions"]
    top = max([*curve["test_error"], *curve["train_error"], curve["raw_test_error"], 0.01])

    def place(dimension: float) -> float:
        span = max(dimensions[-1] - dimensions[0], 1)
        return round(_METRIC_WIDTH * (dimension - dimensions[0]) / span, 2)

    def line(errors: Sequence[float]) -> str:
        pairs = zip(dimensions, errors, strict=True)
        return " ".join(f"{place(d)},{_METRIC_HEIGHT * (1.0 - e / top):.2f}" for d, e in pairs)

    return {
        "test": line(curve["test_error"]),
        "train": line(curve["train_error"]),
        "raw": round(_METRIC_HEIGHT * (1.0 - curve["raw_test_error"] / top), 2),
        "chosen": place(metric["effective_dimension"]),
        "first": dimensions[0],
        "last": dimensions[-1],
        "top": top,
    }


MAX_PANELS = 40


# Of the drawing of one feature, in units of its own.
_PATH_WIDTH, _PATH_HEIGHT = 100.0, 40.0


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
        "width": _PATH_WIDTH,
        "height": _PATH_HEIGHT,
    }


def _panel(feature: Mapping[str, Any], places: Sequence[float], end: float) -> Panel:
    def point(index: int, value: float) -> str:
        return f"{places[index]:.2f},{_PATH_HEIGHT * (1.0 - value / end):.2f}"

    bands = []
    for relevance, start, stop in runs_of_equal_values(feature["relevance"]):
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
        return [_PATH_WIDTH / 2.0]
    scale = math.log if values[0] > 0 else float
    first, last = scale(values[0]), scale(values[-1])
    return [_PATH_WIDTH * (scale(value) - first) / (last - first) for value in values]


MAX_FEATURES = 40


# Of a cell of the map and of the circle of the graph, in units of the drawings.
_CELL = 10.0


_RADIUS = 60.0


@dataclass(frozen=True)
class Cell:
    """A pair of features on the map."""

    x: float
    y: float
    kind: str
    strength: float
    title: str


@dataclass(frozen=True)
class Node:
    """A feature on the circle."""

    name: str
    x: float
    y: float
    angle: float
    turned: bool


@dataclass(frozen=True)
class Link:
    """A line between two features on the circle."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    width: float


def relations_drawing(relations: Mapping[str, Any]) -> dict[str, Any]:
    """The map, the graph and the table of groups, ready to be drawn.

    Parameters
    ----------
    relations : mapping
        What :func:`summarize_relations` gave.
    """
    names = relations["features"][:MAX_FEATURES]
    size = _CELL * len(names)
    nodes = _nodes(names)
    matrix = relations["matrix"]
    return {
        "names": names,
        "n_features": len(relations["features"]),
        "cells": _cells(names, matrix),
        "cell": _CELL,
        "size": size,
        "nodes": nodes,
        "links": _links(nodes, matrix, relations["cut"]),
        "groups": sorted(
            relations["groups"], key=lambda g: (len(g["features"]) == 1, -g["share"], -g["upper"])
        ),
    }


def _kind(relation: float) -> str:
    return "substitutes" if relation < 0 else "complements"


def _cells(names: Sequence[str], matrix: Sequence[Sequence[float]]) -> list[Cell]:
    return [
        Cell(
            x=_CELL * k,
            y=_CELL * j,
            kind=_kind(matrix[j][k]),
            strength=round(abs(matrix[j][k]), 3),
            title=f"{names[j]} with {names[k]}: {matrix[j][k]:.2f}",
        )
        for j in range(len(names))
        for k in range(len(names))
        if abs(matrix[j][k]) >= 0.005
    ]


def _nodes(names: Sequence[str]) -> list[Node]:
    nodes = []
    for i, name in enumerate(names):
        angle = 2.0 * math.pi * i / len(names)
        turned = math.pi / 2 < angle < 3 * math.pi / 2
        degrees = math.degrees(angle) + (180.0 if turned else 0.0)
        x, y = _RADIUS * math.cos(angle), _RADIUS * math.sin(angle)
        nodes.append(Node(name, round(x, 2), round(y, 2), round(degrees, 2), turned))
    return nodes


def _links(nodes: Sequence[Node], matrix: Sequence[Sequence[float]], cut: float) -> list[Link]:
    links = []
    for j, one in enumerate(nodes):
        for k, other in enumerate(nodes[:j]):
            relation = max(matrix[j][k], matrix[k][j], key=abs)
            if abs(relation) >= cut:
                width = round(0.3 + 1.2 * relation**2, 2)
                links.append(Link(one.x, one.y, other.x, other.y, _kind(relation), width))
    return links
