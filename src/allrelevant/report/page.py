"""The summary as one page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._optional import import_extra
from .._text import decimals_for, number, percent, printable, real_minus, shorten
from ..bounds.task import WORDINGS
from ..plots.layout import layout
from ..relevance import CLASSES
from ..results.bounds import ranked
from .sections import design_drawing, metric_drawings, path_panels, relations_drawing

if TYPE_CHECKING:
    from jinja2 import Environment


MAX_BARS = 60


MAX_ROWS = 200


MAX_NAMES = 40


FIRST_NAMES = 15  # of more than that


_MAX_CLASSES = 12


_BETTER_THAN_GUESSING = 0.02


def render(summary: Mapping[str, Any]) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    summary : mapping
        What :func:`bounds_document` gave, or the JSON of it read back.

    Returns
    -------
    str
        HTML. Of a wide table only the first features are drawn and listed, and the page says so.
    """
    features = ranked(summary["features"])
    complete = max(len(features), len(summary["privileged"])) <= MAX_ROWS
    wording, classes = WORDINGS[summary["task"]], summary["classes"]
    return (
        _environment(features)
        .get_template("page.html")
        .render(
            summary=summary,
            title=_title(summary),
            created=datetime.fromisoformat(summary["created"])
            .strftime("%d %B %Y, %H:%M %Z")
            .strip(),
            groups=[
                (name, [f["name"] for f in features if f["relevance"] == name]) for name in CLASSES
            ],
            chart=layout(features[:MAX_BARS], summary["problems"]),
            rows=features[:MAX_ROWS],
            path=_path(summary, features),
            metric=metric_drawings(summary["metric"]) if summary.get("metric") else None,
            relations=_drawn(summary.get("relations"), relations_drawing),
            design=summary.get("design"),
            drawing=_drawn(summary.get("design"), design_drawing),
            privileged=_privileged(summary),
            wording=wording,
            aim=wording.aim.format(*(shorten(printable(c["label"]), 50) for c in classes)),
            achievement=wording.achievement(summary["score"]),
            poor=_is_poor(summary["score"]),
            cv_scores=_cv_scores(summary),
            epsilon=summary["problems"][0]["baseline"].get("epsilon"),
            several=len(summary["problems"]) > 1,
            per_class=1 < len(summary["problems"]) <= _MAX_CLASSES,
            embedded=summary if complete else None,
            max_names=MAX_NAMES,
            first_names=FIRST_NAMES,
        )
    )


def _path(
    summary: Mapping[str, Any], features: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    if summary.get("path") is None:
        return None
    return path_panels(summary["path"], [feature["name"] for feature in features])


def _drawn(
    part: Mapping[str, Any] | None, draw: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any] | None:
    return None if part is None else draw(part)


def _environment(features: Sequence[Mapping[str, Any]]) -> Environment:
    jinja2 = import_extra("jinja2", "cli")
    usual = decimals_for(features)

    def weight(value: float, decimals: int | None = None) -> str:
        text = f"{value:.{usual if decimals is None else decimals}f}"
        # No minus before what rounds to zero, and a real minus sign elsewhere.
        return text.lstrip("-") if float(text) == 0.0 else real_minus(text)

    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("allrelevant", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "allow_nan": False}
    environment.filters["weight"] = weight
    environment.filters["printable"] = printable
    environment.filters["percent"] = percent
    environment.filters["number"] = lambda value: real_minus(number(value))
    environment.filters["short"] = shorten
    return environment


def _title(summary: Mapping[str, Any]) -> str:
    table = summary["table"]
    title = "Which features matter"
    if table["target"] is not None:
        title += f" for {printable(table['target'])}"
    return title


def _is_poor(score: Mapping[str, Any]) -> bool:
    """Whether the baseline is no better than guessing.

    Where there was cross-validation, the estimator itself has warned if need be.
    """
    training, guess = score["training"], score["without_features"]
    if score["cross_validated"] is not None or training is None or guess is None:
        return False
    return bool(training < guess + _BETTER_THAN_GUESSING)


def _cv_scores(summary: Mapping[str, Any]) -> list[float | None]:
    """The cross-validated score of each problem."""
    problems = summary["problems"]
    if len(problems) > 1:
        return [problem.get("cv_accuracy") for problem in problems]
    return [summary["score"]["cross_validated"]]


def _privileged(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the section on privileged features needs; None if there are none."""
    features = ranked(summary["privileged"])
    if not features:
        return None
    cutoffs = [{"cutoff": problem["privileged_cutoff"]} for problem in summary["problems"]]
    counts = Counter(feature["relevance"] for feature in features)
    return {
        "n_features": len(features),
        "counts": {name: counts[name] for name in CLASSES},
        "chart": layout(features[:MAX_BARS], cutoffs),
        "rows": features[:MAX_ROWS],
        "decimals": decimals_for(features),
        "cutoff": cutoffs[0]["cutoff"] if len(cutoffs) == 1 else None,
    }
