"""Where results go, checked before the long work and written after it.

The result as a table on the terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click

from .._text import display_width, printable, shorten
from ..exceptions import InputError

STDOUT = "-"


DEFAULT_PAGE = "report.html"


@dataclass(frozen=True)
class Outputs:
    """The page to write, the JSON to write or print, and how much to say."""

    page: Path | None
    json: Path | None
    json_to_stdout: bool
    quiet: bool

    def write(self, summary: Mapping[str, Any]) -> None:
        """Write what was asked for; what cannot be written is an input error."""
        from ..report import render
        from ..results import write_atomically

        texts = {}
        if self.page is not None:
            texts[self.page] = render(summary)
        if self.json is not None:
            texts[self.json] = as_json(summary)
        for path, text in texts.items():
            try:
                write_atomically(path, text)
            except OSError as error:
                raise InputError(f"Cannot write {str(path)!r}: {error.strerror}.") from error


def as_json(summary: Mapping[str, Any]) -> str:
    """A summary as JSON, in ASCII and so safe on any terminal."""
    return json.dumps(summary, indent=1, allow_nan=False) + "\n"


def plan_outputs(
    page: str | None, json_output: str | None, *, quiet: bool, table: str | None = None
) -> Outputs:
    """Decide where results go, and refuse what could not be written later.

    Parameters
    ----------
    page : str or None
        File of the page; by default ``report.html``, or none if there is JSON.
    json_output : str or None
        File of the JSON, ``-`` for standard output.
    quiet : bool
    table : str or None
        The table that is read, which results must not overwrite.
    """
    if page == STDOUT:
        raise InputError("The page needs a file (-o FILE); only --json can go to standard output.")
    if page is None and json_output is None:
        page = DEFAULT_PAGE
    to_stdout = json_output == STDOUT
    files = [path for path in (page, None if to_stdout else json_output) if path is not None]
    for path in files:
        _require_writable(Path(path))
        if table is not None and _same_file(path, table):
            raise InputError(f"{path!r} is the table itself: write the results elsewhere.")
    if len(files) == 2 and _same_file(*files):
        raise InputError(f"The page and the JSON cannot both go to {page!r}.")
    return Outputs(
        page=None if page is None else Path(page),
        json=None if json_output is None or to_stdout else Path(json_output),
        json_to_stdout=to_stdout,
        quiet=quiet,
    )


def plan_json(output: str | None, *, quiet: bool, table: str) -> Outputs:
    """The same for a command that has no page, and need not write anything."""
    if output is None:
        return Outputs(page=None, json=None, json_to_stdout=False, quiet=quiet)
    return plan_outputs(None, output, quiet=quiet, table=table)


def _same_file(first: str, second: str) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def _require_writable(path: Path) -> None:
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the name of a file to write.")
    if not folder.is_dir():
        raise InputError(f"There is no folder {str(folder)!r} to write {path.name!r} into.")
    # Through a temporary file beside it, so the folder counts; and a read-only file stays.
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"No permission to write {str(path)!r}.")


MAX_FEATURES = 40


_BAR_WIDTHS = (8, 24)


_NAME_WIDTH = 24  # bars give way to names down to here


_COLOURS: dict[str, dict[str, Any]] = {
    "strong": {"fg": "cyan", "bold": True},
    "weak": {"fg": "yellow"},
    "irrelevant": {"dim": True},
}


def echo(text: str, *, err: bool = False) -> None:
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
        What :func:`allrelevant.results.bounds_document` gave.
    unicode : bool
        Whether bars may be drawn with characters beyond ASCII.
    width : int, default=None
        Columns of the terminal; by default what it says it has.
    """
    from .._text import decimals_for
    from ..results.bounds import ranked

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
        from .._text import number

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
    from ..bounds.result import FEATURE_COLUMNS

    columns = [column.name for column in FEATURE_COLUMNS if column.on_terminal]
    columns.remove("relevance")
    numbers = [[_number(f, name, decimals, bars.at_most) for name in columns] for f in features]
    digits = max(5, *(len(number) for row in numbers for number in row))
    room = width - len("irrelevant") - len(columns) * (digits + 2) - 4
    bar_width = min(max(room - _NAME_WIDTH, _BAR_WIDTHS[0]), _BAR_WIDTHS[1])
    room = max(room - bar_width, 12)
    names = [shorten(printable(f["name"]), room, bars.ellipsis) for f in features]
    longest = max(len("feature"), *map(display_width, names))
    heads = [f"{'feature':{longest}}", f"{'relevance':10}", *(f"{c:>{digits}}" for c in columns)]
    lines = [click.style("  ".join([*heads, bars.axis(bar_width, decimals)]), bold=True)]
    for feature, name, row in zip(features, names, numbers, strict=True):
        look = _COLOURS[feature["relevance"]]
        padded = name + " " * (longest - display_width(name))
        word = click.style(f"{feature['relevance']:10}", **look)
        bar = click.style(bars.draw(feature["lower"], feature["upper"], bar_width), **look)
        lines.append("  ".join([padded, word, *(f"{n:>{digits}}" for n in row), bar]))
    return lines


def _number(feature: Mapping[str, Any], column: str, decimals: int, at_most: str) -> str:
    sign = at_most if column == "upper" and not feature["exact"] else ""
    return f"{sign}{feature[column]:.{decimals}f}"


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
