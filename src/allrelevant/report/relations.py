"""What replaces what: what the report says of it, and how it draws it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..bounds.groups import CUT
from ..bounds.relations import Relations
from ..plots.relations import by_group

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


def summarize_relations(relations: Relations) -> dict[str, Any]:
    """Relations as plain values that JSON can hold.

    Parameters
    ----------
    relations : Relations

    Returns
    -------
    dict
        ``features``, the relevant ones, those of a group next to each other; ``matrix``, what
        becomes of each of them, by rows, with each other; ``groups``; and ``cut``, from which size
        on a relation counts.
    """
    shown = by_group(relations, None)
    return {
        "features": [relations.feature_names[j] for j in shown],
        "group": [int(relations.labels_[j]) for j in shown],
        "matrix": relations.relations_[shown][:, shown].tolist(),
        "groups": [
            {
                "features": group.features,
                "relevance": group.relevance,
                "lower": group.lower,
                "upper": group.upper,
                "share": group.share,
            }
            for group in relations.groups_
        ],
        "cut": CUT,
    }


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
    return "substitutes" if relation < 0 else "companions"


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
