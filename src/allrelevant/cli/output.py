"""Output of the commands to files and to the terminal.

Files are checked before the fit and written after it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from .._paths import path_status
from .._text import (
    decimals_for,
    display_width,
    join_names,
    message_line,
    number,
    printable,
    probability,
    shorten,
    wrap,
)
from ..exceptions import InputError, RelevanceWarning

if TYPE_CHECKING:
    from ..results.answer import Finding

STDOUT = "-"

# Number of features listed on the terminal.
MAX_FEATURES = 40
_BAR_WIDTHS = (8, 24)
_MAX_NAMES = 15  # per sentence
_NAME_IN_TEXT_WIDTH = 40
_MAX_TEXT_WIDTH = 100
_NAME_WIDTH = 24  # bars shrink before names get less than this
_COLORS: dict[str, dict[str, Any]] = {
    "strong": {"fg": "cyan", "bold": True},
    "weak": {"fg": "yellow"},
    "unconfirmed": {"fg": "cyan"},
    "irrelevant": {"dim": True},
}


@dataclass(frozen=True)
class Outputs:
    """Destinations of a command's result: HTML, JSON, table and proof files, and the terminal."""

    page: Path | None
    json: Path | None
    table: Path | None
    proof: Path | None
    json_to_stdout: bool
    quiet: bool

    @property
    def files(self) -> list[Path]:
        """All files to write."""
        paths = (self.page, self.json, self.table, self.proof)
        return [path for path in paths if path is not None]

    @property
    def verbose(self) -> int:
        """Verbosity of the estimator: 1 if standard error is a terminal, unless quiet."""
        return int(sys.stderr.isatty() and not self.quiet)

    @property
    def prints_result(self) -> bool:
        """Whether the result is printed as text."""
        return not (self.quiet or self.json_to_stdout)

    def note(self, text: str | None) -> None:
        """Print a note to standard error, unless ``--quiet`` is set."""
        if text and not self.quiet:
            echo(message_line(text), err=True)

    def write(
        self,
        document: Mapping[str, Any],
        to_text: Callable[[Mapping[str, Any]], str],
        proof: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the result to the files and the terminal, and print the names of the files."""
        contents = self._contents(document)
        if self.proof is not None and proof is not None:
            contents[self.proof] = json.dumps(proof, allow_nan=False) + "\n"
        for path, content in contents.items():
            _write(path, content)
        if self.json_to_stdout:
            sys.stdout.write(as_json(document))
            sys.stdout.flush()
        if self.prints_result:
            echo(to_text(document))
        if not self.quiet:
            names = {self.page: "Report", self.json: "JSON", self.table: "Table"}
            names[self.proof] = "Proof"
            for path in contents:
                echo(f"{names[path]} written to {printable(path)}", err=self.json_to_stdout)

    def _contents(self, document: Mapping[str, Any]) -> dict[Path, str | bytes]:
        """Return the content of each file."""
        from ..report.page import render
        from ..results.table import feature_table
        from ..tables.writing import encode_table

        contents: dict[Path, str | bytes] = {}
        if self.page is not None:
            contents[self.page] = render(document)
        if self.json is not None:
            contents[self.json] = as_json(document)
        if self.table is not None:
            contents[self.table] = encode_table(self.table, feature_table(document))
        return contents


def _write(path: Path, content: str | bytes) -> None:
    from ..results.document import write_atomically

    try:
        write_atomically(path, content)
    except OSError as error:
        raise InputError(
            f"Cannot write {str(path)!r}: {error.strerror}. Use a different path."
        ) from error


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as JSON text that contains only ASCII characters."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def plan_outputs(
    page: str | None,
    json_output: str | None,
    table_output: str | None = None,
    proof_output: str | None = None,
    *,
    default: str,
    quiet: bool,
    table: str | None = None,
) -> Outputs:
    """Return the destinations of a result; by default, only the page ``default`` is written.

    ``table_output`` is the file of the result table, ``proof_output`` that of the proof, and
    ``table`` the table that is analyzed.
    Raises ``InputError`` if a file is not writable, is the table itself or is given twice.
    """
    if page == STDOUT:
        raise InputError(
            "The HTML report cannot be written to standard output. Use -o FILE, or --json for JSON."
        )
    if page is None and json_output is None:
        page = default
    if page is not None and Path(page).suffix == ".json":
        raise InputError(
            f"-o writes an HTML report, not JSON (got {page}). Use --json {page} to write JSON."
        )
    if table_output is not None:
        from ..tables.writing import check_format

        check_format(table_output)
    to_stdout = json_output == STDOUT
    outputs = Outputs(
        page=None if page is None else Path(page),
        json=None if json_output is None or to_stdout else Path(json_output),
        table=None if table_output is None else Path(table_output),
        proof=None if proof_output is None else Path(proof_output),
        json_to_stdout=to_stdout,
        quiet=quiet,
    )
    _check_files(outputs.files, table)
    return outputs


def _check_files(files: Sequence[Path], table: str | None) -> None:
    for path in files:
        _check_writable(path)
        if table is not None and same_file(path, table):
            raise InputError(
                f"{str(path)!r} is the table itself. Write the result to a different file."
            )
    for first, second in combinations(files, 2):
        if same_file(first, second):
            raise InputError(
                f"Two results cannot both be written to {str(first)!r}. Use different files."
            )


def same_file(first: str | Path, second: str | Path) -> bool:
    """Check whether two paths refer to the same file."""
    try:
        return Path(first).resolve() == Path(second).resolve()
    except (OSError, ValueError, RuntimeError):  # not a path, or a loop of links
        return False


def _check_writable(path: Path) -> None:
    status = path_status(path)
    folder = path.resolve().parent
    # Output is first written to a temporary file, so the folder must be writable.
    # A read-only file is never replaced.
    if not os.access(folder, os.W_OK) or (status and not os.access(path, os.W_OK)):
        raise InputError(f"Cannot write {str(path)!r}: permission denied. Use a different path.")


@contextmanager
def collected_notes(*, prints_answer: bool = False) -> Iterator[list[str]]:
    """Print each warning of this package once, as a note, and collect the notes for the report.

    If the answer of a bounds document is printed, a note that it repeats is not printed.
    """
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", RelevanceWarning)
        show = warnings.showwarning

        def note(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
            if not issubclass(category, RelevanceWarning):
                show(message, category, *args, **kwargs)
            elif (text := " ".join(str(message).split())) not in notes:
                from ..parallel.estimate import ANNOUNCEMENT
                from ..results.answer import NO_EVIDENCE_WARNING

                if not text.startswith(ANNOUNCEMENT):  # of no interest in a report
                    notes.append(text)
                if prints_answer and text.startswith(NO_EVIDENCE_WARNING):
                    return
                echo(f"Note: {message_line(text)}", err=True)

        warnings.showwarning = note
        yield notes


def echo(text: str, *, err: bool = False) -> None:
    """Print a line of text, with characters that the stream cannot encode escaped."""
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text, err=err, color=use_color(stream))


def use_color(stream: TextIO) -> bool:
    """Return whether to use color: only on a terminal, unless NO_COLOR is set or TERM is dumb."""
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and stream.isatty()


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def text_width() -> int:
    """Return the width of wrapped text on the terminal."""
    return min(_terminal_width(), _MAX_TEXT_WIDTH)


def headline(document: Mapping[str, Any]) -> str:
    """Describe the table in one line: name, size and target."""
    table = document["table"]
    return (
        f"{printable(table['name'])}: {table['n_rows']:,} rows, {table['n_features']:,} features, "
        f"target {shorten(printable(table['target']), 40)}"
    )


def result_table(
    document: Mapping[str, Any], *, unicode: bool | None = None, width: int | None = None
) -> str:
    """Format relevance bounds as text: summary, and table of the highest-ranked features.

    By default, bars use Unicode characters if standard output can encode them, and lines use the
    width of the terminal.
    """
    from ..results.bounds import document_columns, ranked

    unicode = _can_encode("█·…") if unicode is None else unicode
    width = width or _terminal_width()
    wrapped = min(width, _MAX_TEXT_WIDTH)
    lines = [f"{headline(document)}: {_describe_target(document)}", ""]
    lines += [*_answer_lines(document, wrapped), ""]
    for heading, unsorted in (("", document["features"]), ("privileged", document["privileged"])):
        if unsorted:
            features = ranked(unsorted)
            bars = _Bars(features, unicode)
            shown = document_columns(document, features)
            columns = [column.name for column in shown if column.on_terminal]
            columns.remove("relevance")
            if heading:
                lines += [f"{heading}: {_counts(features)}", *_privileged_note(document, width), ""]
            lines += _rows(features[:MAX_FEATURES], columns, decimals_for(features), bars, width)
            if len(features) > MAX_FEATURES:
                lines.append(f"... and {len(features) - MAX_FEATURES:,} more.")
            lines.append("")
    at_most = _Bars([], unicode).at_most
    lines += _small_set_lines(document, wrapped)
    return "\n".join([*lines, *_legend(document, wrapped, at_most)])


def _small_set_lines(document: Mapping[str, Any], width: int) -> list[str]:
    """Return the sentences on the smallest sufficient set, followed by an empty line."""
    if document["small_set"] is None:
        return []
    from ..results.small_set import describe_small_set

    text = f"Small set: {describe_small_set(document['small_set'], document['score']['name'])}"
    return [*wrap(text, width), ""]


def _legend(document: Mapping[str, Any], width: int, at_most: str) -> list[str]:
    """Return a legend that explains the columns, symbols and terms of the table."""
    from .._params import UNTESTED
    from ..results.answer import proof_sentence, rule_phrase

    listed = [*document["features"], *document["privileged"]]
    models = "equivalent mappings" if document.get("metric") else "equivalent models"
    texts = [f"lower, upper: smallest and largest absolute weight over all {models}."]
    if any(feature.get("qvalue") is not None for feature in listed):
        texts.append(
            "q-value: expected fraction of irrelevant features among those with a q-value this "
            "small or smaller."
        )
    if document["rule"] == UNTESTED:
        texts.append("unconfirmed: not tested within the time limit.")
    elif any(feature["relevance"] == "unconfirmed" for feature in listed):
        texts.append(
            f"unconfirmed: all {models} use the feature, but there is not enough evidence that "
            "it is relevant."
        )
    texts.append(f"Rule for relevance: {rule_phrase(document)}.")
    if proof := proof_sentence(document):
        texts.append(proof)
    if document.get("target_note"):
        texts.append(f"Comparable pairs: {document['target_note']}")
    if document["privileged"]:
        texts.append("privileged: used to model the loss of each row, not for prediction.")
    if document["n_outer"]:
        texts.append(f"{at_most}: certified upper bound that may not be tight.")
    return [line for text in texts for line in wrap(text, width)]


def _answer_lines(document: Mapping[str, Any], width: int) -> list[str]:
    """Return the summary of the result: main finding, names, certainty, sufficiency, limits."""
    from ..results.answer import make_answer

    answer = make_answer(document)
    lines = wrap(answer.lead, width)
    for finding in answer.findings:
        if finding.count == "0":
            lines.append(f"{finding.title}: none")
            continue
        head, *rest = wrap(f"{finding.title} ({finding.count}): {finding.meaning}", width)
        styled = click.style(finding.title, **_COLORS[finding.relevance])
        lines += [styled + head[len(finding.title) :], *rest]
        if finding.title != "irrelevant":
            lines += _name_lines(finding, width)
    if answer.findings:
        lines.append("")
    for text in (answer.certainty, answer.sufficiency, answer.limits, answer.hint):
        lines += wrap(text, width)
    return lines


def _privileged_note(document: Mapping[str, Any], width: int) -> list[str]:
    """Return a note if the table gives no evidence that privileged features are relevant."""
    from ..results.answer import privileged_note

    return wrap(privileged_note(document), width)


def _name_lines(finding: Finding, width: int) -> list[str]:
    """Return the feature names of a finding; each group of features starts on a new line."""
    is_group = finding.meaning.endswith(":")
    lines = []
    for names in finding.names:
        short = [shorten(printable(name), _NAME_IN_TEXT_WIDTH) for name in names]
        text = join_names(short, _MAX_NAMES, "or" if is_group else "and", quote=False)
        first, *rest = wrap(text, width, "    " if is_group else "  ")
        lines += [f"  - {first.lstrip()}" if is_group else first, *rest]
    return lines


def _can_encode(characters: str) -> bool:
    """Check whether standard output can encode the given characters."""
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _describe_target(document: Mapping[str, Any]) -> str:
    """Describe the target: its classes, or the range and mean of its values."""
    if document["values"] is not None:
        low, high, mean = (number(document["values"][key]) for key in ("min", "max", "mean"))
        return f"{low} to {high}, mean {mean}"
    classes = ", ".join(
        f"{shorten(printable(c['label']), 30)} ({c['n_rows']:,})" for c in document["classes"][:8]
    )
    more = len(document["classes"]) - 8
    return classes + (f" and {more} more" if more > 0 else "")


def _counts(features: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(feature["relevance"] for feature in features)
    return ", ".join(
        click.style(f"{counts[name]:,} {name}", **color)
        for name, color in _COLORS.items()
        if counts[name] or name != "unconfirmed"
    )


def _rows(
    features: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    decimals: int,
    bars: _Bars,
    width: int,
) -> list[str]:
    numbers = [[_number(f, name, decimals, bars.at_most) for name in columns] for f in features]
    titles = ["q-value" if name == "qvalue" else name for name in columns]
    digits = max(5, *(len(text) for row in [titles, *numbers] for text in row))
    word_width = max(len("irrelevant"), *(len(f["relevance"]) for f in features))
    room = width - word_width - len(columns) * (digits + 2) - 4
    bar_width = min(max(room - _NAME_WIDTH, _BAR_WIDTHS[0]), _BAR_WIDTHS[1])
    room = max(room - bar_width, 12)
    names = [shorten(printable(f["name"]), room, bars.ellipsis) for f in features]
    longest = max(len("feature"), *map(display_width, names))
    heads = [f"{'feature':{longest}}", f"{'relevance':{word_width}}"]
    heads += [f"{title:>{digits}}" for title in titles]
    lines = [click.style("  ".join([*heads, bars.axis(bar_width, decimals)]), bold=True)]
    for feature, name, row in zip(features, names, numbers, strict=True):
        color = _COLORS[feature["relevance"]]
        padded = name + " " * (longest - display_width(name))
        word = click.style(f"{feature['relevance']:{word_width}}", **color)
        bar = click.style(bars.draw(feature["lower"], feature["upper"], bar_width), **color)
        lines.append("  ".join([padded, word, *(f"{n:>{digits}}" for n in row), bar]))
    return lines


def _number(feature: Mapping[str, Any], column: str, decimals: int, at_most: str) -> str:
    if column == "qvalue":
        return probability(feature[column])
    sign = at_most if column == "upper" and not feature["exact"] else ""
    return f"{sign}{feature[column]:.{decimals}f}"


class _Bars:
    """Relevance intervals drawn as text bars, on an axis from zero to the largest bound."""

    def __init__(self, features: Sequence[Mapping[str, Any]], unicode: bool) -> None:
        self.end = max((f["upper"] for f in features), default=0.0)
        self.fill, self.lead = ("█", "·") if unicode else ("#", ".")
        self.ellipsis = "…" if unicode else "..."
        self.at_most = "≤" if unicode else "<="

    def axis(self, width: int, decimals: int) -> str:
        """Return the axis labels: zero at the left, the largest bound at the right."""
        return "0" + f"{self.end:.{decimals}f}".rjust(width - 1)

    def draw(self, lower: float, upper: float, width: int) -> str:
        """Return one bar, at least one character long if its upper bound is positive."""
        scale = width / self.end if self.end > 0 else 0.0
        start = min(int(lower * scale), width - 1)
        stop = max(round(upper * scale), start + 1) if upper > 0 else start
        return self.lead * start + self.fill * (stop - start)
