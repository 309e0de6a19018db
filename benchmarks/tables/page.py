"""A table as a page of Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from allrelevant.results import write_atomically

from .lines import Line, best_of, lines_of, short_lines
from .measure import VERSIONED
from .store import Store
from .table import NOT_FIRST, Column, Table

SHORT = "▼"


def write_page(table: Table, store: Store, folder: Path) -> None:
    """The page of a table with its pictures; none if nothing was measured."""
    lines = lines_of(table, store)
    if not lines:
        return
    pictures = list(draw(table, lines, folder))
    parts = [f"# {table.title}", table.about.strip(), *markdown_table(table, lines)]
    parts += pictures
    parts += list(remarks(table, lines))
    parts += list(not_measured(table, lines))
    parts.append(footer(table, store, folder))
    write_atomically(folder / f"{table.name}.md", "\n\n".join(parts) + "\n")


def markdown_table(table: Table, lines: list[Line]) -> Iterator[str]:
    """Measured figures with their spread, the paper's in italics behind them."""
    published = {key for line in lines for key in line.published}
    titles = [table.first]
    titles += [
        column.title + (" · *paper*" if column.key in published else "") for column in table.columns
    ]
    titles += ["seeds", "wall", "processor", "memory"]
    compared = lines if table.same_data else []
    best = {column.key: best_of(compared, column) for column in table.columns}
    text = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for line in lines:
        name = f"**{line.name}**" if line.ours else line.name
        cells = [cell(line, column, best[column.key]) for column in table.columns]
        text.append(f"| {' | '.join([name, *cells, *cost(line)])} |")
    yield "\n".join(text)
    yield legend(table, lines)
    yield from standing(table, lines)


def standing(table: Table, lines: list[Line]) -> Iterator[str]:
    """Who is first in the column that counts; and why, if that is not us."""
    column = table.headline_column
    best = None if column is None else best_of(lines, column)
    if column is None or best is None:
        return
    means = {line.name: line.mean(column.key) for line in lines}
    first = {name for name, mean in means.items() if round(mean or 0.0, column.digits) == best}
    names = ", ".join(line.name for line in lines if line.name in first)
    text = f"First in {column.title}, at {best:.{column.digits}f}: {names}."
    if not any(line.ours for line in lines if line.name in first):
        text += f" Ours is not: {table.remarks.get(NOT_FIRST, 'not explained.')}"
    yield text


def cell(line: Line, column: Column, best: float | None) -> str:
    mean, spread = line.mean(column.key), line.spread(column.key)
    if mean is None:
        text = "–"
    else:
        text = f"{mean:.{column.digits}f}"
        if best is not None and round(mean, column.digits) == best:
            text = f"**{text}**"
        if spread is not None:
            text += f" ± {spread:.{column.digits}f}"
    beside = line.mean(column.beside) if column.beside else None
    if beside is not None:
        text += f" ({beside:.0f})"
    published = line.published.get(column.key)
    if published is not None:
        text += f" · *{published:.{column.digits}f}*"
    published_beside = line.published.get(column.beside) if column.beside else None
    if published_beside is not None:
        text += f" *({published_beside:.0f})*"
    return text + (f" {SHORT}" if line.falls_short(column) else "")


def cost(line: Line) -> list[str]:
    """Nothing for derived lines, whose cost is that of others."""
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
    text = (
        "Mean ± standard deviation over seeds. Wall and processor time: median of one run, one "
        "thread, on a machine that did other work too. Memory: peak of the process."
    )
    if table.same_data:
        text += " Bold: the best of a column."
    if short_lines(table, lines):
        text += f" {SHORT}: short of the paper's figure; why is said below."
    return text


def remarks(table: Table, lines: list[Line]) -> Iterator[str]:
    """Why rows fell short, each said once."""
    short = short_lines(table, lines)
    if not short:
        return
    yield "## What fell short of the paper"
    said: dict[str, list[str]] = {}
    for line in short:
        reason = table.remarks.get(line.name, table.remarks.get("", "Not explained."))
        said.setdefault(reason, []).append(line.name)
    yield "\n".join(f"- **{', '.join(names)}**: {reason}" for reason, names in said.items())


def not_measured(table: Table, lines: list[Line]) -> Iterator[str]:
    """Rows that the table has and the page has not; many of a kind are counted."""
    known = {line.name for line in lines}
    left = [row for row in table.rows if row.name not in known]
    if not left:
        return
    names = ", ".join(row.name for row in left) if len(left) <= 5 else f"{len(left)} rows"
    needs = sorted({Path(row.needs).parts[0] for row in left if row.needs})
    where = f" (they need {', '.join(needs)} in the data folder)" if needs else ""
    yield f"Not measured: {names}{where}."


def draw(table: Table, lines: list[Line], folder: Path) -> Iterator[str]:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    for picture in table.pictures:
        figure = picture.draw({line.name: line.measured for line in lines})
        if figure is None:
            continue
        (folder / "images").mkdir(parents=True, exist_ok=True)
        with plt.rc_context({"svg.hashsalt": picture.file_name}):  # same numbers, same file
            figure.savefig(
                folder / "images" / picture.file_name, metadata={"Date": None}, bbox_inches="tight"
            )
        plt.close(figure)
        yield f"![{picture.caption}](images/{picture.file_name})\n\n*{picture.caption}*"


def footer(table: Table, store: Store, folder: Path) -> str:
    """Return the command that makes the page, the package versions and a link to the runs."""
    stored: dict[str, str] = {}
    for row in table.rows:
        stored |= store.content(table, row).get("versions", {})
    needs = any(row.needs for row in table.rows)
    command = f"python -m benchmarks.tables --only {table.name}{' --data FOLDER' if needs else ''}"
    made_with = ", ".join(f"{name} {stored[name]}" for name in VERSIONED if name in stored)
    path = store.path(table)
    link = Path(os.path.relpath(path, folder)).as_posix()
    return f"---\n\nMade by `{command}`, with {made_with}. Every run is in [`{path.name}`]({link})."
