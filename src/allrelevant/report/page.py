"""The summary as one page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..bounds.relevance import CLASSES
from ..extras import import_extra
from ..plots.labels import printable, shorten
from .chart import layout

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
        What :func:`summarize` gave, or the JSON of it read back.

    Returns
    -------
    str
        HTML. Of a wide table only the first features are drawn and listed, and the page says so.
    """
    features = ranked(summary["features"])
    complete = len(features) <= MAX_ROWS
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
            accuracies=_accuracies(summary),
            several=len(summary["problems"]) > 1,
            per_class=1 < len(summary["problems"]) <= _MAX_CLASSES,
            embedded=summary if complete else None,
            max_names=MAX_NAMES,
            first_names=FIRST_NAMES,
        )
    )


def ranked(features: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Features by relevance, the strong ones first, and then by falling upper bound."""
    return sorted(features, key=lambda f: (CLASSES.index(f["relevance"]), -f["upper"]))


def decimals_for(features: Sequence[Mapping[str, Any]]) -> int:
    """Decimals that show four digits of the largest bound, so that columns line up."""
    largest = max((f["upper"] for f in features), default=1.0)
    return 3 if largest <= 0.0 else min(max(3 - math.floor(math.log10(largest)), 0), 12)


def _environment(features: Sequence[Mapping[str, Any]]) -> Environment:
    jinja2 = import_extra("jinja2", "cli")
    decimals = decimals_for(features)

    def weight(value: float) -> str:
        text = f"{value:.{decimals}f}"
        # No minus before what rounds to zero, and a real minus sign elsewhere.
        return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "\N{MINUS SIGN}")

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
    environment.filters["percent"] = "{:.1%}".format
    environment.filters["short"] = shorten
    return environment


def _title(summary: Mapping[str, Any]) -> str:
    table = summary["table"]
    title = "Which features matter"
    if table["target"] is not None:
        title += f" for {printable(table['target'])}"
    return title


def _accuracies(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """How good the baseline is, and whether that is any better than guessing."""
    problems = summary["problems"]
    cv = problems[0]["cv_accuracy"] if len(problems) == 1 else None
    training = summary["training_accuracy"]
    if cv is None and training is None:
        return None
    majority = _majority(summary["classes"])
    # Where there was cross-validation, the estimator itself has warned if need be.
    poor = cv is None and majority is not None and training < majority + _BETTER_THAN_GUESSING
    return {"cv": cv, "training": training, "majority": majority, "poor": poor}


def _majority(classes: Sequence[Mapping[str, Any]]) -> float | None:
    """What always guessing the most frequent class would achieve."""
    rows = [c["n_rows"] for c in classes if c["n_rows"] is not None]
    return max(rows) / sum(rows) if rows else None
