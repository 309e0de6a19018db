"""The result as a table on the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import click

from ..plots.labels import display_width, printable, shorten

MAX_FEATURES = 40

_BAR_WIDTHS = (8, 24)
_NAME_WIDTH = 24  # bars give way to names down to here
_COLOURS: dict[str, dict[str, Any]] = {
    "strong": {"fg": "cyan", "bold": True},
    "weak": {"fg": "yellow"},
    "irrelevant": {"dim": True},
}


def say(text: str, *, err: bool = False) -> None:
    """Print a line; what the terminal's encoding lacks is escaped instead of failing."""
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text, err=err, color=use_colour(stream))


def use_colour(stream: TextIO) -> bool:
    """Colour is for people at a terminal who have not asked to be spared it."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()


def result_table(summary: Mapping[str, Any], *, unicode: bool, width: int | None = None) -> str:
    """What was analysed, the counts and the first features, aligned.

    Parameters
    ----------
    summary : mapping
        What :func:`allrelevant.report.summarize` gave.
    unicode : bool
        Whether bars may be drawn with characters beyond ASCII.
    width : int, default=None
        Columns of the terminal; by default what it says it has.
    """
    from ..report.page import decimals_for, ranked

    width = width or shutil.get_terminal_size((100, 24)).columns
    lines = [_what(summary), ""]
    for heading, unsorted in (("", summary["features"]), ("privileged", summary["privileged"])):
        if unsorted:
            features = ranked(unsorted)
            bars = _Bars(features, unicode)
            lines += [_counts(features, heading), ""]
            lines += _rows(features[:MAX_FEATURES], decimals_for(features), bars, width)
            lines += _more(len(features) - MAX_FEATURES)
    all_of_them = "equivalent mappings" if summary.get("metric") else "models as good"
    lines.append(f"lower, upper: smallest and largest size of the weight, over all {all_of_them}.")
    if summary["privileged"]:
        lines.append("privileged: explain how far rows may be missed; no input of predictions.")
    if summary["n_outer"]:
        lines.append(f"{bars.at_most}: bounds that are proven but need not be tight.")
    return "\n".join(lines)


def _more(number: int) -> list[str]:
    return [f"... and {number:,} more.", ""] if number > 0 else [""]


def _what(summary: Mapping[str, Any]) -> str:
    table = summary["table"]
    return (
        f"{printable(table['name'])}: {table['n_rows']:,} rows, {table['n_features']:,} features, "
        f"target {shorten(printable(table['target']), 40)}: {_target(summary)}"
    )


def _target(summary: Mapping[str, Any]) -> str:
    """Its classes, or where its values lie."""
    if summary["values"] is not None:
        from ..report.wording import number

        low, high, mean = (number(summary["values"][key]) for key in ("min", "max", "mean"))
        return f"{low} to {high}, mean {mean}"
    classes = ", ".join(
        f"{shorten(printable(c['label']), 30)} ({c['n_rows']:,})" for c in summary["classes"][:8]
    )
    more = len(summary["classes"]) - 8
    return classes + (f" and {more} more" if more > 0 else "")


def _counts(features: Sequence[Mapping[str, Any]], heading: str) -> str:
    found = Counter(feature["relevance"] for feature in features)
    counts = [click.style(f"{found[name]:,} {name}", **look) for name, look in _COLOURS.items()]
    return f"{heading}: {', '.join(counts)}" if heading else ", ".join(counts)


def _rows(
    features: Sequence[Mapping[str, Any]], decimals: int, bars: _Bars, width: int
) -> list[str]:
    numbers = [
        (
            f"{f['lower']:.{decimals}f}",
            f"{'' if f['exact'] else bars.at_most}{f['upper']:.{decimals}f}",
        )
        for f in features
    ]
    digits = max(5, *(len(number) for pair in numbers for number in pair))
    room = width - len("irrelevant") - 2 * digits - 8
    bar_width = min(max(room - _NAME_WIDTH, _BAR_WIDTHS[0]), _BAR_WIDTHS[1])
    room = max(room - bar_width, 12)
    names = [shorten(printable(f["name"]), room, bars.ellipsis) for f in features]
    longest = max(len("feature"), *map(display_width, names))
    head = f"{'feature':{longest}}  {'relevance':10}  {'lower':>{digits}}  {'upper':>{digits}}"
    lines = [click.style(f"{head}  {bars.axis(bar_width, decimals)}", bold=True)]
    for feature, name, (lower, upper) in zip(features, names, numbers, strict=True):
        look = _COLOURS[feature["relevance"]]
        padded = name + " " * (longest - display_width(name))
        word = click.style(f"{feature['relevance']:10}", **look)
        bar = click.style(bars.draw(feature["lower"], feature["upper"], bar_width), **look)
        lines.append(f"{padded}  {word}  {lower:>{digits}}  {upper:>{digits}}  {bar}")
    return lines


class _Bars:
    """Intervals as bars of characters, all on one axis from zero to the largest bound."""

    def __init__(self, features: Sequence[Mapping[str, Any]], unicode: bool) -> None:
        self.end = max((f["upper"] for f in features), default=0.0)
        self.fill, self.lead = ("█", "·") if unicode else ("#", ".")
        self.ellipsis = "…" if unicode else "..."
        self.at_most = "≤" if unicode else "<="

    def axis(self, width: int, decimals: int) -> str:
        """Zero at one end, the largest bound at the other."""
        return "0" + f"{self.end:.{decimals}f}".rjust(width - 1)

    def draw(self, lower: float, upper: float, width: int) -> str:
        """One bar; at least one character, so that no interval goes unseen."""
        scale = width / self.end if self.end > 0 else 0.0
        start = min(int(lower * scale), width - 1)
        stop = max(round(upper * scale), start + 1) if upper > 0 else start
        return self.lead * start + self.fill * (stop - start)
