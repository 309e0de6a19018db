"""The first page of the results: what there is, and what fell short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from allrelevant.report.writing import write_atomically

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


def write_index(tables: Sequence[Table], store: Store, folder: Path) -> None:
    text = [HEAD, "| page | rows | short of the paper |\n| --- | --- | --- |"]
    rows = [row for table in tables for row in index_rows(table, store)]
    if not rows:
        return
    text[-1] += "\n" + "\n".join(rows)
    write_atomically(folder / "README.md", "\n\n".join(text) + "\n")


def index_rows(table: Table, store: Store) -> Iterator[str]:
    lines = lines_of(table, store)
    if not lines:
        return
    short = short_lines(table, lines)
    link = f"[{table.title}]({table.name}.md)"
    yield f"| {link} | {len(lines)} | {counted(short)} |"


def counted(short: list[Line]) -> str:
    """Ours and others' apart."""
    ours = sum(line.ours for line in short)
    parts = [f"{ours} of ours"] if ours else []
    parts += [f"{len(short) - ours} of others"] if len(short) > ours else []
    return ", ".join(parts) or "none"
