"""HTML report on relevance bounds: its sections and their common variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._text import decimals_for, printable, shorten
from ..bounds.task import task_by_name
from ..results.answer import NO_EVIDENCE_WARNING, make_answer
from .sections import (
    MAX_ROWS,
    Document,
    Page,
    Section,
    design_view,
    intervals_view,
    levels_view,
    method_view,
    metric_view,
    path_view,
    privileged_view,
    relations_view,
    settings_view,
    small_set_view,
    table_view,
)

# Minimum difference between the score of a useful model and that of a dummy model.
_MIN_IMPROVEMENT = 0.02


def page_variables(document: Document) -> dict[str, Any]:
    """Return the variables of the page and of all its sections."""
    is_complete = max(len(document["features"]), len(document["privileged"])) <= MAX_ROWS
    wording = task_by_name(document["task"]).wording
    target = document["table"]["target"]
    labels = [shorten(printable(entry["label"]), 50) for entry in document["classes"]]
    return {
        "title": "Which features matter" + ("" if target is None else f" for {printable(target)}"),
        "wording": wording,
        "aim": wording.aim.format(*labels),
        "is_mapping": bool(document.get("metric")),
        "several": len(document["subproblems"]) > 1,
        "embedded": document if is_complete else None,
        "answer": make_answer(document),
        "notes": [w for w in document["warnings"] if not w.startswith(NO_EVIDENCE_WARNING)],
        "achievement": wording.achievement(document["score"]),
        "poor": _is_poor(document["score"]),
    }


def _is_poor(score: Mapping[str, Any]) -> bool:
    """Check whether the baseline is no better than a dummy model.

    If there is a cross-validated score, the estimator itself warns about poor models.
    """
    training, dummy = score["training"], score["without_features"]
    if score["cross_validated"] is not None or training is None or dummy is None:
        return False
    return bool(training < dummy + _MIN_IMPROVEMENT)


PAGE = Page(
    template="bounds.html",
    variables=page_variables,
    sections=(
        Section("features", "intervals.html", intervals_view),
        Section("metric", "metric.html", metric_view),
        Section("features", "table.html", table_view),
        Section("levels", "levels.html", levels_view),
        Section("privileged", "privileged.html", privileged_view),
        Section("relations", "relations.html", relations_view),
        Section("small_set", "small_set.html", small_set_view),
        Section("cheapest_models", "design.html", design_view),
        Section("path", "path.html", path_view),
        Section("subproblems", "method.html", method_view),
        Section("settings", "settings.html", settings_view),
    ),
    decimals=lambda document: decimals_for(document["features"]),
)
