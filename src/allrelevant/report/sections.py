"""Sections of the HTML report, and the functions that prepare their content.

A view function converts a JSON document to the template variables of a section.
:mod:`allrelevant.plots.layout` computes geometry in data units, which is scaled here to drawing
units.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._params import FDR
from .._text import (
    decimals_for,
    display_width,
    number,
    percent,
    printable,
    short_label,
    shorten,
)
from ..bounds.permutations import EVIDENCE_LEVEL, N_TABLE_PERMUTATIONS
from ..bounds.task import task_by_name
from ..plots.layout import axis_fractions, axis_ticks, bands, circle, cutoff_lines, links, outline
from ..relevance import CLASSES, UNCONFIRMED
from ..results.answer import count_classes, has_evidence, privileged_note, proof_sentence
from ..results.bounds import TEST_COLUMNS, document_columns, ranked
from ..results.small_set import describe_small_set

# Limits for tables with many features; the JSON is complete.
MAX_BARS = 60
MAX_ROWS = 200
MAX_CLASSES = 12
MAX_PANELS = 40
MAX_RELATED_FEATURES = 40
MAX_MAPPING_ROWS = 3

_LABEL_WIDTH = 32

# Cell size of the heat map and radius of the graph, in drawing units.
_CELL = 10.0
_RADIUS = 60.0

# Maximum number of characters in labels of the heat map and the graph, and character width.
_RELATION_LABEL_WIDTH = 24
_CHARACTER_WIDTH = 3.9

# Relations with a smaller absolute value are not drawn.
_MIN_RELATION = 0.005

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """Section of the report, shown if the JSON document has a nonempty value for ``name``."""

    name: str
    template: str
    view: Callable[[Document], Mapping[str, Any]]


@dataclass(frozen=True)
class Page:
    """Page of one kind of document.

    ``variables`` returns the variables shared by the template and all sections: at least ``title``,
    ``embedded`` (the document, or None if it is too large) and ``notes``. ``decimals`` returns the
    default number of decimals of weights.
    """

    template: str
    variables: Callable[[Document], Mapping[str, Any]]
    sections: tuple[Section, ...]
    decimals: Callable[[Document], int] = lambda document: 3


@dataclass(frozen=True)
class Drawing:
    """Drawing area whose axes start at zero and end at ``right`` and ``top``."""

    width: float
    height: float
    right: float
    top: float

    def x(self, value: float) -> float:
        return self.width * value / self.right

    def y(self, value: float) -> float:
        return self.height * (1.0 - value / self.top)

    def points(self, vertices: Iterable[tuple[float, float]]) -> str:
        """Return the vertices of a line or polygon as an SVG ``points`` attribute."""
        return " ".join(f"{self.x(x):.2f},{self.y(y):.2f}" for x, y in vertices)


def intervals_view(document: Document) -> dict[str, Any]:
    """Return the template variables for a bar chart of the highest-ranked features."""
    return {"chart": _bar_chart(ranked(document["features"]), _cutoff(document))}


def _cutoff(document: Document, *, privileged: bool = False) -> dict[str, float] | None:
    """Return the cutoffs to draw, or None if significance tests or several subproblems are used."""
    prefix = "privileged_" if privileged else ""
    if document[f"{prefix}rule"] == FDR or len(document["subproblems"]) > 1:
        return None
    cutoff: dict[str, float] = document["subproblems"][0][f"{prefix}cutoff"]
    return cutoff


def _bar_chart(
    features: Sequence[Mapping[str, Any]], cutoff: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return the bars, ticks and cutoff lines of a chart; positions are percentages of the axis.

    ``cutoff`` is None if there are no cutoffs to draw.
    """
    features = features[:MAX_BARS]
    lower, upper = (0.0, 0.0) if cutoff is None else (cutoff["lower"], cutoff["upper"])
    present = {feature["relevance"] for feature in features}
    ticks = axis_ticks(max([upper, *(f["upper"] for f in features)]))
    decimals = max(0, -math.floor(math.log10(ticks[1])))

    def percent(value: float) -> float:
        return round(100.0 * value / ticks[-1], 3)

    bars = []
    for feature in features:
        name, left = printable(feature["name"]), percent(feature["lower"])
        bars.append(
            {
                "label": shorten(name, _LABEL_WIDTH),
                "name": name,
                "relevance": feature["relevance"],
                "left": left,
                "width": max(percent(feature["upper"]) - left, 0.0),
                "baseline": percent(abs(feature["baseline"])),
                "lower": feature["lower"],
                "upper": feature["upper"],
            }
        )
    lines = [(percent(line.value), line.kind) for line in cutoff_lines(lower, upper)]
    return {
        "bars": bars,
        "classes": [name for name in CLASSES if name in present],
        "ticks": [{"position": percent(tick), "label": f"{tick:.{decimals}f}"} for tick in ticks],
        "lines": [{"position": x, "kind": kind} for x, kind in lines if 0 < x <= 100],
    }


def table_view(document: Document) -> dict[str, Any]:
    """Return the template variables for a table of the highest-ranked features."""
    columns = _number_columns(document, document["features"])
    return {
        "rows": ranked(document["features"])[:MAX_ROWS],
        "columns": columns,
        "test_columns": TEST_COLUMNS,
        "headings": {column.name: column.heading for column in columns},
        "per_class": 1 < len(document["subproblems"]) <= MAX_CLASSES,
    }


def _number_columns(document: Document, features: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the columns of a feature table that contain numbers."""
    columns = document_columns(document, features)
    return [column for column in columns if column.heading and column.name != "relevance"]


def privileged_view(document: Document) -> dict[str, Any]:
    """Return the template variables for the chart and the table of privileged features."""
    features = ranked(document["privileged"])
    cutoff = _cutoff(document, privileged=True)
    counts = Counter(feature["relevance"] for feature in features)
    return {
        "n_features": len(features),
        "counts": count_classes(counts),
        "no_evidence": privileged_note(document),
        "chart": _bar_chart(features, cutoff),
        "rows": features[:MAX_ROWS],
        "columns": _number_columns(document, features),
        "test_columns": TEST_COLUMNS,
        "decimals": decimals_for(features),
        "cutoff": cutoff,
    }


def metric_view(document: Document) -> dict[str, Any]:
    """Return the template variables for plots of the components and errors of a mapping."""
    metric = document["metric"]
    return {
        "width": 100.0,
        "height": 40.0,
        "n_rows": len(metric["rows"]),
        "rows": [_mapping_row(row) for row in metric["rows"][:MAX_MAPPING_ROWS]],
        "curve": None if metric["curve"] is None else _dimension_curve(metric),
        "effective_dimension": metric["effective_dimension"],
    }


def _mapping_row(row: Mapping[str, Any]) -> dict[str, Any]:
    raw = None if row["raw"] is None else [abs(weight) for weight in row["raw"]]
    top = max(row["upper"]) or 1.0
    return {
        "raw": None if raw is None else _outline_points(raw, max(raw) or 1.0),
        "raw_top": None if raw is None else max(raw),
        "upper": _outline_points(row["upper"], top),
        "lower": _outline_points(row["lower"], top),
        "top": top,
    }


def _outline_points(heights: Sequence[float], top: float) -> str:
    drawing = Drawing(100.0, 40.0, right=len(heights), top=top)
    return f"0,40 {drawing.points(outline(heights))} 100,40"


def _dimension_curve(metric: Mapping[str, Any]) -> dict[str, Any]:
    curve = metric["curve"]
    first, last = curve["dimensions"][0], curve["dimensions"][-1]
    top = max([*curve["test_error"], *curve["train_error"], curve["raw_test_error"], 0.01])
    drawing = Drawing(100.0, 40.0, right=max(last - first, 1), top=top)

    def x_position(dimension: float) -> float:
        return round(drawing.x(dimension - first), 2)

    def line(errors: Sequence[float]) -> str:
        pairs = zip(curve["dimensions"], errors, strict=True)
        return " ".join(f"{x_position(d)},{drawing.y(e):.2f}" for d, e in pairs)

    return {
        "test": line(curve["test_error"]),
        "train": line(curve["train_error"]),
        "raw": round(drawing.y(curve["raw_test_error"]), 2),
        "chosen": x_position(metric["effective_dimension"]),
        "first": first,
        "last": last,
        "top": top,
    }


def relations_view(document: Document) -> dict[str, Any]:
    """Return the template variables for the heat map, graph and table of related features."""
    relations = document["relations"]
    names, matrix = relations["features"][:MAX_RELATED_FEATURES], relations["matrix"]
    shown = [row[: len(names)] for row in matrix[: len(names)]]
    labels = [short_label(name, _RELATION_LABEL_WIDTH) for name in names]
    margin = 6.0 + math.ceil(_CHARACTER_WIDTH * max(map(display_width, labels), default=0))
    nodes = [
        {
            "name": name,
            "label": label,
            "x": round(_RADIUS * node.x, 2),
            "y": round(_RADIUS * node.y, 2),
            "angle": round(node.angle, 2),
            "is_left": node.is_left,
        }
        for name, label, node in zip(names, labels, circle(len(names)), strict=True)
    ]
    return {
        "names": names,
        "labels": labels,
        "margin": margin,
        "graph_radius": _RADIUS + margin,
        "n_features": len(relations["features"]),
        "cells": _cells(names, shown),
        "cell_size": _CELL,
        "size": _CELL * len(names),
        "nodes": nodes,
        "links": [
            {
                "ends": (nodes[j], nodes[k]),
                "kind": _kind(relation),
                "width": round(0.3 + 1.2 * relation**2, 2),
            }
            for j, k, relation in links(shown, relations["threshold"])
        ],
        "groups": sorted(
            relations["groups"],
            key=lambda g: (len(g["features"]) == 1, -g["norm_fraction"], -g["upper"]),
        ),
    }


def _kind(relation: float) -> str:
    return "substitutes" if relation < 0 else "complements"


def _cells(names: Sequence[str], matrix: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    return [
        {
            "x": _CELL * k,
            "y": _CELL * j,
            "kind": _kind(relation),
            "strength": round(abs(relation), 3),
            "title": f"{names[j]} with {names[k]}: {relation:.2f}",
        }
        for j, row in enumerate(matrix)
        for k, relation in enumerate(row)
        if abs(relation) >= _MIN_RELATION
    ]


def levels_view(document: Document) -> dict[str, Any]:
    """Return the effects of the levels of relevant features, with bars on a common scale."""
    ends = [
        abs(level[end])
        for part in document["levels"]
        for level in part["levels"]
        for end in ("low", "high")
    ]
    largest = max(ends, default=0.0) or 1.0

    def place(value: float) -> float:
        """Return a value as a percentage of the width of the bars."""
        return 50.0 + 50.0 * value / largest

    return {
        "levels": [
            {
                **part,
                "levels": [
                    {
                        **level,
                        "left": place(level["low"]),
                        "width": max(place(level["high"]) - place(level["low"]), 0.5),
                        "mark": place(level["baseline"]),
                    }
                    for level in part["levels"]
                ],
            }
            for part in document["levels"]
        ],
        "informative_missing": [
            part["feature"]
            for part in document["levels"]
            for level in part["levels"]
            if len(part["levels"]) == 1 and (level["low"] > 0 or level["high"] < 0)
        ],
    }


def small_set_view(document: Document) -> dict[str, Any]:
    """Return the sentences on the smallest sufficient set."""
    return {"small_set": describe_small_set(document["small_set"], document["score"]["name"])}


def design_view(document: Document) -> dict[str, Any]:
    """Return the template variables for a plot of model costs against numbers of features."""
    design = document["cheapest_models"]
    models, baseline = design["models"], design["baseline"]
    costs = axis_ticks(max([baseline["cost"], *(model["cost"] for model in models)]))
    right = max([baseline["n_features"], *(len(model["features"]) for model in models)]) + 1
    drawing = Drawing(300.0, 160.0, right=right, top=costs[-1])

    def point(n_features: int, cost: float) -> dict[str, float]:
        return {"x": round(drawing.x(n_features), 2), "y": round(drawing.y(cost), 2)}

    return {
        "design": design,
        "marks": [
            {**point(len(model["features"]), model["cost"]), "proven": model["proven"]}
            for model in models
        ],
        "baseline": point(baseline["n_features"], baseline["cost"]),
        "costs": [{"label": f"{cost:g}", **point(0, cost)} for cost in costs],
        "numbers": [
            {"label": str(n), **point(n, 0.0)} for n in range(0, right + 1, max(1, -(-right // 10)))
        ],
        "width": drawing.width,
        "height": drawing.height,
    }


def path_view(document: Document) -> dict[str, Any]:
    """Return the template variables for plots of bounds along a path, one plot per feature."""
    path = document["path"]
    by_name = {feature["name"]: feature for feature in path["features"]}
    names = [feature["name"] for feature in ranked(document["features"])]
    shown = [by_name[name] for name in names if name in by_name][:MAX_PANELS]
    end = max((max(feature["upper"]) for feature in shown), default=0.0) or 1.0
    drawing = Drawing(100.0, 40.0, right=1.0, top=end)
    x = axis_fractions(path["values"])
    return {
        "param": path["param"],
        "first": path["values"][0],
        "last": path["values"][-1],
        "end": end,
        "n_features": len(path["features"]),
        "panels": [_panel(feature, x, drawing) for feature in shown],
        "width": drawing.width,
        "height": drawing.height,
    }


def _panel(feature: Mapping[str, Any], x: Sequence[float], drawing: Drawing) -> dict[str, Any]:
    upper, lower = (list(zip(x, feature[side], strict=True)) for side in ("upper", "lower"))
    heights = [min(abs(weight), drawing.top) for weight in feature["baseline"]]
    return {
        "name": feature["name"],
        "bands": [
            {
                "relevance": band.relevance,
                "points": drawing.points([*upper[band.values], *lower[band.values][::-1]]),
            }
            for band in bands(feature["relevance"])
        ],
        "baseline": drawing.points(zip(x, heights, strict=True)),
        "ranges": feature["ranges"],
    }


def method_view(document: Document) -> dict[str, Any]:
    """Return the template variables for the section that explains the method."""
    features = [*document["features"], *document["privileged"]]
    present = {feature["relevance"] for feature in features}
    return {
        "classes": [name for name in CLASSES if name != UNCONFIRMED or name in present],
        "evidence_level": EVIDENCE_LEVEL,
        "n_permutations": N_TABLE_PERMUTATIONS,
        "has_evidence": has_evidence(document["table_pvalue"]),
        "risks": document.get("risk_bound"),
        "proof": proof_sentence(document),
        "n_bounds": 2 * (len(features) - document["n_outer"]),
        "cutoff": document["subproblems"][0]["cutoff"],
    }


def settings_view(document: Document) -> dict[str, Any]:
    """Return the template variables for the section that lists the settings."""
    subproblems = document["subproblems"]
    wording, name = task_by_name(document["task"]).wording, document["score"]["name"]
    is_usual = name == wording.score
    key = "cv_accuracy" if is_usual else "cv_score"
    cv_scores = [subproblem.get(key) for subproblem in subproblems]
    if len(subproblems) == 1:
        cv_scores = [document["score"]["cross_validated"]]
    write = percent if is_usual else number
    return {
        "cv_scores": [None if score is None else write(score) for score in cv_scores],
        "score_heading": wording.score_heading if is_usual else f"{name} (cross-validated)",
        "epsilon": subproblems[0]["baseline"].get("epsilon"),
    }
