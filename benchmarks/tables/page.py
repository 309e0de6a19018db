"""Markdown page of one table of results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from allrelevant.results import write_atomically

from .lines import Line, best_mean, lines_worse_than_paper, table_lines
from .measure import VERSIONED
from .store import Store
from .table import NOT_BEST, Column, Paper, Table

WORSE = "▼"
MISSING = "–"
OURS = "`allrelevant`"
NO_REASON = "The reason is not known."


def write_page(table: Table, store: Store, folder: Path, paper: Paper | None = None) -> None:
    """Write the page of a table and its plots, unless nothing was measured."""
    lines = table_lines(table, store)
    if not lines:
        return
    plots = list(draw_plots(table, lines, folder))
    parts = [f"# {table.title}"]
    parts += [f"{paper.name} is the {table.source} by {paper.citation}."] if paper else []
    parts += [wrap_paragraphs(table.about), *markdown_table(table, lines), *plots]
    parts += list(remarks(table, lines))
    parts += list(missing_rows(table, lines))
    parts.append(footer(table, store, folder))
    write_atomically(folder / f"{table.name}.md", "\n\n".join(parts) + "\n")


def wrap_paragraphs(text: str) -> str:
    """Return the text with paragraphs wrapped at 100 characters; Markdown tables are unchanged."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        paragraph
        if paragraph.startswith("|")
        else fill(paragraph.strip(), 100, break_long_words=False, break_on_hyphens=False)
        for paragraph in paragraphs
    )


def markdown_table(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the Markdown of a table, its legend and a sentence about the best methods."""
    published = {key for line in lines for key in line.published}
    titles = [table.row_header]
    titles += [
        column.title + (f" · *{table.source}*" if column.key in published else "")
        for column in table.columns
    ]
    titles += ["seeds", "wall time", "CPU time", "memory"]
    best = {column.key: bold_mean(table, lines, column) for column in table.columns}
    text = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for line in lines:
        cells = [cell(line, column, best[column.key]) for column in table.columns]
        text.append(f"| {' | '.join([label(table, line, lines), *cells, *cost(line)])} |")
    yield "\n".join(text)
    yield legend(table, lines, "\n".join(text))
    yield from best_methods(table, lines)


def bold_mean(table: Table, lines: list[Line], column: Column) -> float | None:
    """Return the mean to print in bold, or None if the rows of the table are not comparable."""
    return best_mean(lines, column) if table.rows_are_methods else None


def label(table: Table, line: Line, lines: list[Line]) -> str:
    """Return the name of a row, with a prefix for allrelevant in tables with other methods."""
    is_mixed = table.rows_are_methods and not all(one.is_ours for one in lines)
    return f"{OURS}: {line.name}" if line.is_ours and is_mixed else line.name


def quote_names(names: Sequence[str]) -> str:
    """Return the quoted names as an enumeration.

    Examples
    --------
    >>> quote_names(["lasso", "ridge", "Boruta"])
    '"lasso", "ridge" and "Boruta"'
    """
    quoted = [f'"{name}"' for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def best_methods(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield a sentence about the best methods in the main column.

    If none of them is ours, the reason follows.
    """
    column = table.headline_column
    best = None if column is None else best_mean(lines, column)
    if column is None or best is None:
        return
    first = [line for line in lines if _rounded_mean(line, column) == best]
    ours = [line.name for line in first if line.is_ours]
    others = [line.name for line in first if not line.is_ours]
    text = f'The best value in the column "{column.title}" is {best:.{column.digits}f}.'
    if ours:
        text += f" {OURS} reaches it with {quote_names(ours)}."
    verb = "reaches" if len(others) == 1 else "reach"
    if ours and others:
        text += f" {quote_names(others)} also {verb} it."
    if not ours:
        text += f" {quote_names(others)} {verb} it, but {OURS} does not."
        text += f" {table.remarks.get(NOT_BEST, NO_REASON)}"
    yield text


def _rounded_mean(line: Line, column: Column) -> float | None:
    mean = line.mean(column.key)
    return None if mean is None else round(mean, column.digits)


def cell(line: Line, column: Column, best: float | None) -> str:
    """Format the mean, the standard deviation and the paper's value of one table cell."""
    mean, std = line.mean(column.key), line.std(column.key)
    if mean is None:
        text = MISSING
    else:
        text = f"{mean:.{column.digits}f}"
        if best is not None and _rounded_mean(line, column) == best:
            text = f"**{text}**"
        if std is not None:
            text += f" ± {std:.{column.digits}f}"
    in_parentheses = line.mean(column.in_parentheses) if column.in_parentheses else None
    if in_parentheses is not None:
        text += f" ({in_parentheses:.0f})"
    if column.key in line.published:
        text += f" · {paper_figure(line.published, column)}"
    if column.key in line.corrected:
        text += f" → {paper_figure(line.corrected, column)}"
    return text + (f" {WORSE}" if line.is_worse_than_paper(column) else "")


def paper_figure(published: Mapping[str, float], column: Column) -> str:
    text = f"{published[column.key]:.{column.digits}f}"
    if column.in_parentheses in published:
        text += f" ({published[column.in_parentheses]:.0f})"
    return f"*{text}*"


def cost(line: Line) -> list[str]:
    """Return the cells for seeds, times and memory; derived rows have empty cells."""
    if not line.n_seeds:
        return ["", "", "", ""]
    seeds = str(len(line.measured))
    if len(line.measured) < line.n_seeds:
        seeds += f" of {line.n_seeds}"
    times = [in_seconds(line.seconds), in_seconds(line.processor_seconds)]
    memory = MISSING if line.megabytes is None else f"{line.megabytes:.0f} MB"
    return [seeds, *times, memory]


def in_seconds(seconds: float | None) -> str:
    if seconds is None:
        return MISSING
    return f"{seconds:.2g} s" if seconds < 99 else f"{seconds:.0f} s"


def legend(table: Table, lines: list[Line], text: str) -> str:
    """Return a legend that explains the marks used in a table."""
    has_repeats = any(line.n_seeds and len(line.measured) > 1 for line in lines)
    is_incomplete = any(len(line.measured) < line.n_seeds for line in lines)
    has_best = any(bold_mean(table, lines, column) is not None for column in table.columns)
    sentences = {
        "Values are means ± standard deviations over seeds.": "±" in text,
        "Times are medians over single-threaded runs, one per seed, on a shared computer.": (
            has_repeats
        ),
        "Times are from one single-threaded run on a shared computer.": not has_repeats,
        "Memory is the peak memory of the process.": " MB |" in text,
        bold_sentence(table, lines): has_best,
        f"Values in italics are from the {table.source}.": any(line.published for line in lines),
        "Arrows point from misprints to their corrections.": any(line.corrected for line in lines),
        'In the column "seeds", "n of m" means that n of m runs were measured.': is_incomplete,
        "A dash marks a value that was not measured or does not apply.": MISSING in text,
        f"{WORSE} marks values worse than those of the {table.source}, for the reasons given "
        "below.": WORSE in text,
    }
    return " ".join(sentence for sentence, applies in sentences.items() if applies)


def bold_sentence(table: Table, lines: list[Line]) -> str:
    """Return a sentence that explains which columns have bold values."""
    titles = [
        column.title for column in table.columns if bold_mean(table, lines, column) is not None
    ]
    others = [column.title for column in table.columns if column.title not in titles]
    if not others:
        return "Bold marks the best value in each column."
    if len(others) < len(titles):
        return f"Bold marks the best value in each column except {quote_names(others)}."
    noun = "column" if len(titles) == 1 else "columns"
    return f"Bold marks the best value in the {noun} {quote_names(titles)}."


def remarks(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield the reasons why rows are worse than in the paper, each reason once."""
    worse = lines_worse_than_paper(table, lines)
    if not worse:
        return
    yield f"## Values worse than in the {table.source}"
    names_by_reason: dict[str, list[str]] = {}
    for line in worse:
        reason = table.remarks.get(line.name, table.remarks.get("", NO_REASON))
        names_by_reason.setdefault(reason, []).append(line.name)
    yield "\n".join(
        f"- {quote_names(names)}: {reason}" for reason, names in names_by_reason.items()
    )


def missing_rows(table: Table, lines: list[Line]) -> Iterator[str]:
    """Yield a sentence about the rows that were not measured.

    It names up to five rows and counts more than five.
    """
    measured = {line.name for line in lines}
    missing = [row for row in table.rows if row.name not in measured]
    if not missing:
        return
    names = [row.name for row in missing]
    subject = quote_names(names) if len(names) <= 5 else f"The other {len(names)} rows of the table"
    files = sorted({Path(row.data_file).parts[0] for row in missing if row.data_file})
    reason = f", because the data folder does not contain {', '.join(files)}" if files else ""
    yield f"{subject} {'was' if len(names) == 1 else 'were'} not measured{reason}."


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
    """Return a footer with the command, the package versions and a link to the stored runs."""
    stored: dict[str, str] = {}
    for row in table.rows:
        stored |= store.content(table, row).get("versions", {})
    needs_data = any(row.data_file for row in table.rows)
    option = " --data FOLDER" if needs_data else ""
    command = f"python -m benchmarks.tables --only {table.name}{option}"
    made_with = ", ".join(f"{name} {stored[name]}" for name in VERSIONED if name in stored)
    made_with = made_with.replace("python", "Python", 1)
    path = store.path(table)
    link = Path(os.path.relpath(path, folder)).as_posix()
    return (
        f"---\n\nThis page is generated by `{command}`. The results were obtained with "
        f"{made_with}. All runs are stored in [`{path.name}`]({link})."
    )
