"""Rendering of HTML reports: one page per kind of document, and the variables they share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._text import number, percent, probability, short_label, shorten, use_minus_sign
from ..results.answer import format_pvalue
from ..results.document import BOUNDS, EXPLANATION, SELECTION
from . import bounds, explanation, selection
from .policy import StyleVariables, content_policy
from .sections import Page

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES: Mapping[str, Page] = {
    BOUNDS: bounds.PAGE,
    SELECTION: selection.PAGE,
    EXPLANATION: explanation.PAGE,
}

# Lists with more than MAX_NAMES names show only the first FIRST_NAMES.
MAX_NAMES = 40
FIRST_NAMES = 15

# Longer names, and longer texts that contain several names, are shortened.
MAX_NAME_WIDTH = 1000
MAX_TEXT_WIDTH = 10_000


def render(document: Mapping[str, Any]) -> str:
    """Render a (JSON) document as an HTML report.

    For tables with many features, the report shows only the highest-ranked ones and says so.
    """
    page = PAGES[document["kind"]]
    environment = _environment(page.decimals(document))
    created = datetime.fromisoformat(document["created"])
    shared = {
        "summary": document,
        "created": created.strftime("%d %B %Y, %H:%M %Z").strip(),
        "seed": document.get("seed", document["settings"].get("random_state")),
        **page.variables(document),
    }
    sections = [
        environment.get_template(f"sections/{section.template}").render(
            **shared, **section.view(document)
        )
        for section in page.sections
        if document.get(section.name)
    ]
    return environment.get_template(page.template).render(**shared, sections=sections)


def _finalize(value: Any) -> Any:
    """Shorten a text of the page; finished parts, such as sections, are objects of Markup."""
    return shorten(value, MAX_TEXT_WIDTH) if type(value) is str else value


def _environment(default_decimals: int) -> Environment:
    import jinja2

    def weight(value: float | None, decimals: int | None = None) -> str:
        if value is None:  # features with several weights have no sign
            return "-"
        text = f"{value:.{default_decimals if decimals is None else decimals}f}"
        # Values that round to zero get no sign; other negative values get a typographic minus.
        return text.lstrip("-") if float(text) == 0.0 else use_minus_sign(text)

    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("allrelevant", "report/templates"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "allow_nan": False}
    variables = StyleVariables()
    environment.globals.update(
        MAX_NAMES=MAX_NAMES,
        FIRST_NAMES=FIRST_NAMES,
        variable=variables.add,
        variable_rules=variables.rules,
        content_policy=content_policy,
    )
    environment.filters.update(
        count=lambda value: f"{value:,}",
        number=lambda value: use_minus_sign(number(value)),
        percent=percent,
        printable=lambda name: short_label(name, MAX_NAME_WIDTH),
        pvalue=format_pvalue,
        probability=lambda value: probability(value, "\N{EN DASH}"),
        short=shorten,
        weight=weight,
    )
    return environment
