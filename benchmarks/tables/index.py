"""Index of the result pages of each paper, with the results that are not reproduced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from allrelevant.results import write_atomically

from .lines import Line, lines_worse_than_paper, table_lines
from .page import OURS
from .store import Store
from .table import Paper, Table

HEAD = """\
# Reproduced results of the papers

These pages reproduce tables and figures of four papers and a thesis with `allrelevant`, on a
computer with two cores. They also contain results of other packages and of the comparison methods
of the papers.

For each paper, a table links to the reproduced results. The list below the table names the results
that are not reproduced, or only in part, and gives the reasons. If a page compares methods by one
metric, the table gives the best values of this metric. If a value is worse than in the paper, the
page gives the reason.

`make tables DATA=folder` measures all tables. To resume an interrupted run, repeat the command.
`make tables-quick DATA=folder` repeats some of the runs within ten minutes and compares the results
with these pages. Without `DATA`, both commands use only generated data and the datasets of
scikit-learn. They list the runs that they skip.

For recommendations, see [Choosing a method](../which_method.md)."""

TITLES = (
    "page",
    "metric",
    f"best value of {OURS}",
    "best value of other methods",
    "rows of the table",
    "rows worse than in the paper",
)
# Key of the metric that is compared across datasets with known ground truth.
SHARED = "F1"


def write_index(
    papers: Sequence[Paper], others: Sequence[Table], store: Store, folder: Path
) -> None:
    """Write the index of all measured tables, or nothing if no table is measured."""
    tables = [table for paper in papers for table in paper.tables] + list(others)
    text = [HEAD]
    for paper in papers:
        text += paper_section(paper, store)
    text += section("Results that are not from a paper", others, store)
    if len(text) == 1:
        return
    text += f1_by_method(tables, store)
    write_atomically(folder / "README.md", "\n\n".join(text) + "\n")


def paper_section(paper: Paper, store: Store) -> Iterator[str]:
    parts = list(section(f"{paper.name}: {paper.citation}", paper.tables, store))
    if not parts:
        return
    yield from parts
    if paper.not_reproduced:
        yield "The following results are not reproduced, or only in part:"
        yield "\n".join(f"- {sentence}" for sentence in paper.not_reproduced)


def section(title: str, tables: Sequence[Table], store: Store) -> Iterator[str]:
    """Yield a heading and a table of links to pages, or nothing if no table is measured."""
    rows = [row for table in tables for row in index_rows(table, store)]
    if not rows:
        return
    yield f"## {title}"
    yield "\n".join([f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", *rows])


def index_rows(table: Table, store: Store) -> Iterator[str]:
    lines = table_lines(table, store)
    if not lines:
        return
    worse = lines_worse_than_paper(table, lines)
    link = f"[{table.title}]({table.name}.md)"
    cells = [link, *headline(table, lines), str(len(lines)), count_by_origin(worse)]
    yield f"| {' | '.join(cells)} |"


def headline(table: Table, lines: list[Line]) -> list[str]:
    """Return the main column's title and the best rows of allrelevant and of other methods."""
    column = table.headline_column
    if column is None:
        return ["", "", ""]
    cells = [column.title]
    for is_ours in (True, False):
        means = {line.name: line.mean(column.key) for line in lines if line.is_ours is is_ours}
        measured = {name: mean for name, mean in means.items() if mean is not None}
        sign = -1 if column.better == "lower" else 1
        best = max(measured, key=lambda name: sign * measured[name], default=None)
        cells.append("" if best is None else f"{measured[best]:.{column.digits}f} ({best})")
    return cells


def count_by_origin(lines: list[Line]) -> str:
    """Count the rows of allrelevant and those of other methods.

    Examples
    --------
    >>> count_by_origin([])
    'none'
    """
    n_ours = sum(line.is_ours for line in lines)
    parts = [f"{n_ours} of {OURS}"] if n_ours else []
    parts += [f"{len(lines) - n_ours} of other methods"] if len(lines) > n_ours else []
    return ", ".join(parts) or "none"


def f1_by_method(tables: Sequence[Table], store: Store) -> Iterator[str]:
    """Yield a table with the F1 of each method on each dataset with known ground truth."""
    lines_by_table = {
        table: table_lines(table, store) for table in tables if table.headline == SHARED
    }
    lines_by_table = {table: lines for table, lines in lines_by_table.items() if lines}
    if not lines_by_table:
        return
    is_ours = {line.name: line.is_ours for lines in lines_by_table.values() for line in lines}
    titles = [f"[{table.short_title}]({table.name}.md)" for table in lines_by_table]
    yield f"## {SHARED} score of each method on synthetic data with known ground truth"
    text = [f"| method | {' | '.join(titles)} |", f"|{' --- |' * (len(titles) + 1)}"]
    for name, ours in is_ours.items():
        means = [mean_by_name(name, lines) for lines in lines_by_table.values()]
        cells = ["" if mean is None else f"{mean:.2f}" for mean in means]
        text.append(f"| {f'{OURS}: {name}' if ours else name} | {' | '.join(cells)} |")
    yield "\n".join(text)


def mean_by_name(name: str, lines: list[Line]) -> float | None:
    return next((line.mean(SHARED) for line in lines if line.name == name), None)
