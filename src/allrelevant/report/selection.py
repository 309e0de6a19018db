"""HTML report on a selection: the selected features, their scores and their substitutes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .._text import printable
from ..bounds.task import task_by_name
from ..plots.layout import count_axis, range_ticks
from ..relevance import RELEVANT
from ..results.bounds import ranked
from ..results.selection_answer import (
    RULES,
    features_of_sets,
    needed_by,
    recommendation,
    replacement,
    score_name,
    selection_answer,
    set_name,
    small_set_sentence,
)
from ..results.small_set import plus_minus
from .sections import MAX_ROWS, Document, Page, Section

# Marks of single subsets are drawn only up to this number of subsets.
MAX_MARKS = 120

# Number of selected features in the list of replacements, and of substitutes of each.
MAX_REPLACEMENTS = 40
MAX_SUBSTITUTES = 6


def page_variables(document: Document) -> dict[str, Any]:
    """Return the variables of the page and of all its sections."""
    target = printable(document["table"]["target"])
    return {
        "title": f"Few features that predict {target}",
        "wording": task_by_name(document["task"]).wording,
        "answer": selection_answer(document),
        "small_set": small_set_sentence(document),
        "recommendation": recommendation(document),
        "score_name": score_name(document),
        "notes": document["warnings"],
        "embedded": document if len(document["features"]) <= MAX_ROWS else None,
    }


def answers_view(document: Document) -> dict[str, Any]:
    """Return the selected set, the smallest sufficient set and all relevant features."""
    bounds, score = document["bounds"], document["score"]
    held_out, small_set = score["held_out"], bounds["small_set"]
    relevant = [f["name"] for f in ranked(document["features"]) if f["relevance"] in RELEVANT]
    cards = [
        {
            "title": "Selected for prediction",
            "names": document["selected"],
            "meaning": _rule(document),
            "score": None
            if held_out is None
            else f"{score_name(document)} "
            f"{plus_minus(held_out['mean'], held_out['standard_error'])}",
        }
    ]
    if small_set is not None:
        first = small_set["models"][0]
        cards.append(
            {
                "title": "A small set that suffices",
                "names": first["features"],
                "meaning": "Relevance bounds: the fewest features for a linear model that is "
                "equivalent to the baseline. "
                + (
                    "No smaller set suffices."
                    if first["proven"]
                    else f"A set with up to {first['gap']:g} fewer features may exist."
                ),
                "score": _small_set_score(small_set, bounds["score_name"]),
            }
        )
    baseline = None if small_set is None else small_set["baseline"]
    cards.append(
        {
            "title": "All relevant features",
            "names": relevant,
            "meaning": "Relevance bounds: all features that are significantly more relevant than "
            "noise.",
            "score": None
            if baseline is None
            else f"{bounds['score_name']} with all {document['table']['n_features']:,} features "
            f"{plus_minus(baseline['score'], baseline['score_error'])}",
        }
    )
    return {"cards": cards}


def _rule(document: Document) -> str:
    rule = document["settings"]["n_features_to_select"]
    given = "the best-ranked features, in the given number"
    return f"{document['method']}: {RULES[rule] if isinstance(rule, str) else given}."


def _small_set_score(small_set: Mapping[str, Any], name: str) -> str:
    if small_set["held_out_score"] is not None:
        return (
            f"{name} {plus_minus(small_set['held_out_score'], small_set['held_out_score_error'])}"
        )
    first = small_set["models"][0]
    return f"{name} {plus_minus(first['score'], first['score_error'])} (optimistic)"


def replacements_view(document: Document) -> dict[str, Any]:
    """Return the relevance and the substitutes of the selected features and of the small set."""
    features = features_of_sets(document)
    has_other_set = not all(feature["selected"] for feature in features)
    return {
        "replacements": [
            {
                **feature,
                "set": set_name(feature) if has_other_set else "",
                "in_small_set": feature.get("in_small_set", False),
                "replacement": replacement(feature, document["selected"], at_most=MAX_SUBSTITUTES),
            }
            for feature in features[:MAX_REPLACEMENTS]
        ],
        "n_members": len(features),
        "has_substitutes": document["bounds"]["has_substitutes"],
        "needed_by": needed_by(document),
    }


def features_view(document: Document) -> dict[str, Any]:
    """Return the table of all features, selected features first."""
    features = sorted(document["features"], key=lambda f: (not f["selected"], f["rank"]))
    held_out, bounds = document["score"]["held_out"], document["bounds"]
    return {
        "rows": features[:MAX_ROWS],
        "n_folds": None if held_out is None else len(held_out["by_fold"]),
        "has_bounds": bounds is not None,
        "has_small_set": bounds is not None and bounds["small_set"] is not None,
        "has_importance": "importance" in features[0],
    }


def path_view(document: Document) -> dict[str, Any]:
    """Return the curve of scores by number of features; positions in percent of the drawing."""
    subsets = document["subsets"]
    sizes = [subset["n_features"] for subset in subsets]
    low = min(subset["score"] - subset["standard_error"] for subset in subsets)
    high = max(subset["score"] + subset["standard_error"] for subset in subsets)
    margin = 0.05 * (high - low) or 0.05
    low, high = low - margin, high + margin
    fractions, labels = count_axis(sizes)

    def y_position(score: float) -> float:
        return round(100.0 * (high - score) / (high - low), 2)

    place = dict(zip(sizes, (round(100.0 * x, 2) for x in fractions), strict=True))
    label_places = _label_places(sizes, labels)
    ticks = range_ticks(low, high)
    decimals = max(2, -math.floor(math.log10(ticks[1] - ticks[0]))) if len(ticks) > 1 else 3
    marks = [
        {**subset, "x": place[subset["n_features"]], "y": y_position(subset["score"])}
        for subset in subsets
    ]
    return {
        "line": " ".join(f"{mark['x']},{mark['y']}" for mark in marks),
        "band": _band(marks, y_position),
        "marks": marks if len(marks) <= MAX_MARKS else [],
        "chosen": _chosen(marks, document["n_selected"]),
        "score_ticks": [{"y": y_position(tick), "label": f"{tick:.{decimals}f}"} for tick in ticks],
        "size_ticks": label_places,
        "is_logarithmic": max(sizes) > 100,
        "optimistic": document["score"]["optimistic"],
    }


def _label_places(sizes: Sequence[int], labels: Sequence[int]) -> list[dict[str, Any]]:
    """Return the positions of the labels of the horizontal axis."""
    fractions, _ = count_axis([max(sizes), min(sizes), *labels])
    return [
        {"x": round(100.0 * x, 2), "label": f"{label:,}"}
        for x, label in zip(fractions[2:], labels, strict=True)
    ]


def _band(marks: Sequence[Mapping[str, Any]], y_position: Any) -> str:
    """Return the outline of the band of one standard error around the curve."""
    upper = [(m["x"], y_position(m["score"] + m["standard_error"])) for m in marks]
    lower = [(m["x"], y_position(m["score"] - m["standard_error"])) for m in marks]
    return " ".join(f"{x},{y}" for x, y in [*upper, *lower[::-1]])


def _chosen(marks: Sequence[Mapping[str, Any]], n_selected: int) -> Mapping[str, Any] | None:
    same = [mark for mark in marks if mark["n_features"] == n_selected]
    return max(same, key=lambda mark: mark["score"], default=None)


def settings_view(document: Document) -> dict[str, Any]:
    """Return an empty dict, because the template reads the settings from the document."""
    return {}


PAGE = Page(
    template="selection.html",
    variables=page_variables,
    sections=(
        Section("bounds", "answers.html", answers_view),
        Section("bounds", "replacements.html", replacements_view),
        Section("subsets", "elimination.html", path_view),
        Section("features", "selected.html", features_view),
        Section("settings", "selection_settings.html", settings_view),
    ),
)
