"""Markdown page of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from allrelevant.results import write_atomically

from .lines import Line, best_mean, lines_worse_than_paper, table_lines
from .measure import VERSIONED
from .store import Store
from .table import NOT_BEST, Column, Table

WORSE = "▼"
OURS = "`allrelevant`"


def write_page(table: Table, store: Store, folder: Path) -> None:
    """Write the page of a table and its plots, unless nothing was measured."""
    lines = table_lines(table, store)
    if not lines:
        return
    plots = list(draw_plots(table, lines, folder))
    parts = [f"# {table.title}", table.about.strip(), *markdown_table(table, lines)]
    parts += plots
    parts += list(remarks(table, lines))
    parts += list(missing_rows(table, lines))
    parts.append(footer(table, store, folder))
    write_atomically(folder / f"{table.name}.md", "\n\n".join(parts) + "\n")


def markdown_table(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the table, its legend and the best method."""
    published = {key for line in lines for key in line.published}
    titles = [table.row_header]
    titles += [
        column.title + (" · *paper*" if column.key in published else "") for column in table.columns
    ]
    titles += ["seeds", "wall", "processor", "memory"]
    best = {column.key: bold_mean(table, lines, column) for column in table.columns}
    text = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for line in lines:
        cells = [cell(line, column, best[column.key]) for column in table.columns]
        text.append(f"| {' | '.join([label(table, line, lines), *cells, *cost(line)])} |")
    yield "\n".join(text)
    yield legend(table, lines)
    yield from best_methods(table, lines)


def bold_mean(table: Table, lines: list[Line], column: Column) -> float | None:
    """Return the mean to print in bold; None if the rows are not methods on the same data."""
    return best_mean(lines, column) if table.rows_are_methods else None


def label(table: Table, line: Line, lines: list[Line]) -> str:
    """Return the name of a line, marked as ours if the table has other methods as well."""
    is_mixed = table.rows_are_methods and not all(one.is_ours for one in lines)
    return f"{OURS}: {line.name}" if line.is_ours and is_mixed else line.name


def best_methods(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the best methods of the headline column, and the reason if none is ours."""
    column = table.headline_column
    best = None if column is None else best_mean(lines, column)
    if column is None or best is None:
        return
    first = [line for line in lines if _rounded_mean(line, column) == best]
    names = "; ".join(label(table, line, lines) for line in first)
    text = f'Best in "{column.title}" ({best:.{column.digits}f}): {names}.'
    if not any(line.is_ours for line in first):
        text += f" No method of {OURS} reaches it: {table.remarks.get(NOT_BEST, 'not explained.')}"
    yield text


def _rounded_mean(line: Line, column: Column) -> float | None:
    mean = line.mean(column.key)
    return None if mean is None else round(mean, column.digits)


def cell(line: Line, column: Column, best: float | None) -> str:
    """Return the mean, its standard deviation and the paper's figure."""
    mean, std = line.mean(column.key), line.std(column.key)
    if mean is None:
        text = "–"
    else:
        text = f"{mean:.{column.digits}f}"
        if best is not None and _rounded_mean(line, column) == best:
            text = f"**{text}**"
        if std is not None:
            text += f" ± {std:.{column.digits}f}"
    in_brackets = line.mean(column.in_brackets) if column.in_brackets else None
    if in_brackets is not None:
        text += f" ({in_brackets:.0f})"
    if column.key in line.published:
        text += f" · {paper_figure(line.published, column)}"
    if column.key in line.corrected:
        text += f" → {paper_figure(line.corrected, column)}"
    return text + (f" {WORSE}" if line.is_worse_than_paper(column) else "")


def paper_figure(published: Mapping[str, float], column: Column) -> str:
    text = f"{published[column.key]:.{column.digits}f}"
    if column.in_brackets in published:
        text += f" ({published[column.in_brackets]:.0f})"
    return f"*{text}*"


def cost(line: Line) -> list[str]:
    """Return seeds, times and memory; derived lines have none."""
    if not line.n_seeds:
        return ["", "", "", ""]
    seeds = str(len(line.measured))
    if len(line.measured) < line.n_seeds:
        seeds += f" of {line.n_seeds}"
    times = [in_seconds(line.seconds), in_seconds(line.processor_seconds)]
    memory = "–" if line.megabytes is None else f"{line.megabytes:.0f} MB"
    return [seeds, *times, memory]


def in_seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.2g} s" if seconds < 99 else f"{seconds:.0f} s"


def legend(table: Table, lines: list[Line]) -> str:
    """Return the explanation of the marks that the table contains."""
    text = (
        "Mean ± standard deviation over seeds. Times are the median of one single-threaded run on "
        "a shared computer. Memory is the peak of the process."
    )
    if any(bold_mean(table, lines, column) is not None for column in table.columns):
        text += " Bold: best of the column."
    if any(line.published for line in lines):
        text += " Italics: the paper's figure."
    if any(line.corrected for line in lines):
        text += " An arrow leads from a misprint to its correction."
    if any(len(line.measured) < line.n_seeds for line in lines):
        text += ' Seeds "n of m": the other runs were not measured.'
    if lines_worse_than_paper(table, lines):
        text += f" {WORSE}: worse than the paper's figure, for the reason given below."
    return text


def remarks(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the reasons why lines are worse than the paper, each reason once."""
    worse = lines_worse_than_paper(table, lines)
    if not worse:
        return
    yield "## Figures worse than the paper's"
    names_by_reason: dict[str, list[str]] = {}
    for line in worse:
        reason = table.remarks.get(line.name, table.remarks.get("", "Not explained."))
        names_by_reason.setdefault(reason, []).append(line.name)
    yield "\n".join(f"- {'; '.join(names)}: {reason}" for reason, names in names_by_reason.items())


def missing_rows(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the rows that were not measured; more than five are counted."""
    measured = {line.name for line in lines}
    missing = [row for row in table.rows if row.name not in measured]
    if not missing:
        return
    names = ", ".join(row.name for row in missing) if len(missing) <= 5 else f"{len(missing)} rows"
    files = sorted({Path(row.data_file).parts[0] for row in missing if row.data_file})
    required = f" (requires {', '.join(files)} in the data folder)" if files else ""
    yield f"Not measured: {names}{required}."


def draw_plots(table: Table, lines: list[Line], folder: Path) -> Iterator[str]:
    """Write the plots of a table and yield the Markdown that shows them."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    for plot in table.plots:
        figure = plot.draw({line.name: line.measured for line in lines})
        if figure is None:
            continue
        (folder / "images").mkdir(parents=True, exist_ok=True)
        with plt.rc_context({"svg.hashsalt": plot.file_name}):  # reproducible file content
            figure.savefig(
                folder / "images" / plot.file_name, metadata={"Date": None}, bbox_inches="tight"
            )
        plt.close(figure)
        yield f"![{plot.caption}](images/{plot.file_name})\n\n*{plot.caption}*"


def footer(table: Table, store: Store, folder: Path) -> str:
    """Return the command that makes the page, the package versions and a link to the runs."""
    stored: dict[str, str] = {}
    for row in table.rows:
        stored |= store.content(table, row).get("versions", {})
    needs_data = any(row.data_file for row in table.rows)
    option = " --data FOLDER" if needs_data else ""
    command = f"python -m benchmarks.tables --only {table.name}{option}"
    made_with = ", ".join(f"{name} {stored[name]}" for name in VERSIONED if name in stored)
    path = store.path(table)
    link = Path(os.path.relpath(path, folder)).as_posix()
    return f"---\n\nMade by `{command}` with {made_with}. All runs: [`{path.name}`]({link})."
