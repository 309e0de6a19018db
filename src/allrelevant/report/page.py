"""Rendering of the HTML report from its sections and their common template variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._optional import import_extra
from .._text import (
    decimals_for,
    number,
    percent,
    printable,
    probability,
    shorten,
    use_minus_sign,
)
from ..bounds.task import task_by_name
from ..results.answer import NO_EVIDENCE_WARNING, format_pvalue, make_answer
from ..results.bounds import ranked
from .sections import (
    MAX_ROWS,
    Section,
    design_view,
    intervals_view,
    method_view,
    metric_view,
    path_view,
    privileged_view,
    relations_view,
    settings_view,
    table_view,
)

if TYPE_CHECKING:
    from jinja2 import Environment

SECTIONS: tuple[Section, ...] = (
    Section("features", "intervals.html", intervals_view),
    Section("metric", "metric.html", metric_view),
    Section("features", "table.html", table_view),
    Section("privileged", "privileged.html", privileged_view),
    Section("relations", "relations.html", relations_view),
    Section("cheapest_models", "design.html", design_view),
    Section("path", "path.html", path_view),
    Section("subproblems", "method.html", method_view),
    Section("settings", "settings.html", settings_view),
)

# Lists with more than MAX_NAMES names show only the first FIRST_NAMES.
MAX_NAMES = 40
FIRST_NAMES = 15

# Minimum difference between the score of a useful model and that of a dummy model.
_MIN_IMPROVEMENT = 0.02


def render(document: Mapping[str, Any]) -> str:
    """Return the HTML report for relevance bounds, given their JSON document.

    For tables with many features, the report shows only the highest-ranked ones and says so.
    """
    features = ranked(document["features"])
    environment = _environment(features)
    is_complete = max(len(features), len(document["privileged"])) <= MAX_ROWS
    wording = task_by_name(document["task"]).wording
    target = document["table"]["target"]
    created = datetime.fromisoformat(document["created"])
    labels = [shorten(printable(entry["label"]), 50) for entry in document["classes"]]
    shared = {
        "summary": document,
        "created": created.strftime("%d %B %Y, %H:%M %Z").strip(),
        "wording": wording,
        "aim": wording.aim.format(*labels),
        "is_mapping": bool(document.get("metric")),
        "several": len(document["subproblems"]) > 1,
        "embedded": document if is_complete else None,
    }
    sections = [
        environment.get_template(f"sections/{section.template}").render(
            **shared, **section.view(document)
        )
        for section in SECTIONS
        if document.get(section.name)
    ]
    return environment.get_template("page.html").render(
        **shared,
        title="Which features matter" + ("" if target is None else f" for {printable(target)}"),
        answer=make_answer(document),
        notes=[w for w in document["warnings"] if not w.startswith(NO_EVIDENCE_WARNING)],
        achievement=wording.achievement(document["score"]),
        poor=_is_poor(document["score"]),
        sections=sections,
    )


def _environment(features: Sequence[Mapping[str, Any]]) -> Environment:
    jinja2 = import_extra("jinja2", "cli")
    default_decimals = decimals_for(features)

    def weight(value: float, decimals: int | None = None) -> str:
        text = f"{value:.{default_decimals if decimals is None else decimals}f}"
        # Values that round to zero get no sign; other negative values get a typographic minus.
        return text.lstrip("-") if float(text) == 0.0 else use_minus_sign(text)

    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("allrelevant", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "allow_nan": False}
    environment.globals.update(MAX_NAMES=MAX_NAMES, FIRST_NAMES=FIRST_NAMES)
    environment.filters.update(
        count=lambda value: f"{value:,}",
        number=lambda value: use_minus_sign(number(value)),
        percent=percent,
        printable=printable,
        pvalue=format_pvalue,
        probability=lambda value: probability(value, "\N{EN DASH}"),
        short=shorten,
        weight=weight,
    )
    return environment


def _is_poor(score: Mapping[str, Any]) -> bool:
    """Return whether the baseline is no better than a dummy model.

    If there is a cross-validated score, the estimator itself warns about poor models.
    """
    training, dummy = score["training"], score["without_features"]
    if score["cross_validated"] is not None or training is None or dummy is None:
        return False
    return bool(training < dummy + _MIN_IMPROVEMENT)
