"""The first page of the results: what there is, and what fell short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from allrelevant.results import write_atomically

from .lines import Line, lines_of, short_lines
from .store import Store
from .table import Table

HEAD = """\
# The papers' tables, measured again

Every comparison of the five papers that public data allow, with the methods they compare with and
peers of today, on two cores. `make tables DATA=folder` measures all of it, and goes on where it was
interrupted; `make tables-quick DATA=folder` measures a part within ten minutes and compares it with
these pages. Without the folder both take what is generated or comes with scikit-learn, and say what
they skip.

What to use when: [which method for which question](../which_method.md)."""


# Key of the figure that tables of known truth share.
SHARED = "F1"


def write_index(tables: Sequence[Table], store: Store, folder: Path) -> None:
    titles = ("page", "measured by", "our best", "best of others", "rows", "short of the paper")
    text = [HEAD, f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}"]
    rows = [row for table in tables for row in index_rows(table, store)]
    if not rows:
        return
    text[-1] += "\n" + "\n".join(rows)
    text += list(side_by_side(tables, store))
    write_atomically(folder / "README.md", "\n\n".join(text) + "\n")


def side_by_side(tables: Sequence[Table], store: Store) -> Iterator[str]:
    """Methods by table, for the tables whose rows are the same methods."""
    found = {table: lines_of(table, store) for table in tables if table.headline == SHARED}
    found = {table: lines for table, lines in found.items() if lines}
    if not found:
        return
    names = {line.name: line.ours for lines in found.values() for line in lines}
    titles = [f"[{table.short_title}]({table.name}.md)" for table in found]
    yield f"## {SHARED} of the relevant features, on tables of known truth"
    text = [f"| method | {' | '.join(titles)} |", f"|{' --- |' * (len(titles) + 1)}"]
    for name, ours in names.items():
        means = [mean_of(name, lines) for lines in found.values()]
        cells = ["" if mean is None else f"{mean:.2f}" for mean in means]
        text.append(f"| {f'**{name}**' if ours else name} | {' | '.join(cells)} |")
    yield "\n".join(text)


def mean_of(name: str, lines: list[Line]) -> float | None:
    return next((line.mean(SHARED) for line in lines if line.name == name), None)


def index_rows(table: Table, store: Store) -> Iterator[str]:
    lines = lines_of(table, store)
    if not lines:
        return
    short = short_lines(table, lines)
    link = f"[{table.title}]({table.name}.md)"
    cells = [link, *headline(table, lines), str(len(lines)), counted(short)]
    yield f"| {' | '.join(cells)} |"


def headline(table: Table, lines: list[Line]) -> list[str]:
    """What is compared, our best row and the best of others."""
    column = table.headline_column
    if column is None:
        return ["", "", ""]
    cells = [column.title]
    for ours in (True, False):
        means = {line.name: line.mean(column.key) for line in lines if line.ours is ours}
        known = {name: mean for name, mean in means.items() if mean is not None}
        sign = -1 if column.better == "lower" else 1
        best = max(known, key=lambda name: sign * known[name], default=None)
        cells.append("" if best is None else f"{known[best]:.{column.digits}f} ({best})")
    return cells


def counted(short: list[Line]) -> str:
    """Ours and others' apart."""
    ours = sum(line.ours for line in short)
    parts = [f"{ours} of ours"] if ours else []
    parts += [f"{len(short) - ours} of others"] if len(short) > ours else []
    return ", ".join(parts) or "none"
