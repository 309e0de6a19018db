"""A table of a paper as a value: its columns, its rows, how each row is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What one run of a row yields: numbers by name; lists and words go to pictures and remarks.
Figures = Mapping[str, Any]
# What is kept of a row: its figures by seed.
Measured = Mapping[int, Figures]
# Among the remarks of a table: why none of ours is first.
NOT_FIRST = "not first"
# (seed, folder of public tables) -> figures; the folder is there if the row needs one of its files.
Measure = Callable[[int, Path], Figures]


@dataclass(frozen=True)
class Column:
    """One number of a row, and how to read it.

    Attributes
    ----------
    title : str
    key : str
        Its name among the figures.
    digits : int
    better : {"higher", "lower", ""}
        Which way a row falls short of the paper; "" if neither way does.
    beside : str
        Name of a second figure, shown in brackets: a number of features, as a rule.
    """

    title: str
    key: str
    digits: int = 2
    better: str = "higher"
    beside: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes
    ----------
    name : str
    measure : callable
        See ``Measure``. Seeded: the same seed gives the same figures.
    published : mapping of str to float
        The paper's figures, by key.
    seeds : int
        Number of seeds, from 0.
    quick : int
        How many of them the quick run takes; 0 leaves the row out.
    needs : str
        A file in the folder of public tables, without which the row is skipped.
    ours : bool
        Whether this is a method of this package; its best figures are what the page is about.
    """

    name: str
    measure: Measure
    published: Mapping[str, float] = field(default_factory=dict)
    seeds: int = 10
    quick: int = 2
    needs: str = ""
    ours: bool = False


@dataclass(frozen=True)
class Derived:
    """A line that is put together from measured rows: a mean over tasks, the best of several."""

    name: str
    figures: Measured
    published: Mapping[str, float] = field(default_factory=dict)
    ours: bool = False


@dataclass(frozen=True)
class Picture:
    """A plot of what was measured.

    ``draw`` gets the figures of the rows that are there and returns a matplotlib figure, or None
    if what it needs is missing.
    """

    file_name: str
    caption: str
    draw: Callable[[Mapping[str, Measured]], Any]


@dataclass(frozen=True, eq=False)
class Table:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        Of its page and its folder: paper and number.
    title : str
    about : str
        What is measured, with which settings, and what differs from the paper. Markdown.
    columns : sequence of Column
    rows : sequence of Row
    first : str
        Title of the first column.
    remarks : mapping of str to str
        Why a row falls short of the paper's figure, by its name; "" speaks for all others, and
        ``NOT_FIRST`` for the headline column, should none of ours be first there.
    derive : callable or None
        Further lines from measured ones.
    pictures : sequence of Picture
    same_data : bool
        Whether rows are methods on the same data: then the best of a column is bold.
    headline : str
        Key of the column by which the first page compares our best row with the best of others.
    """

    name: str
    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    first: str = "method"
    remarks: Mapping[str, str] = field(default_factory=dict)
    derive: Callable[[Mapping[str, Measured]], Sequence[Derived]] | None = None
    pictures: Sequence[Picture] = ()
    same_data: bool = True
    headline: str = ""

    @property
    def short_title(self) -> str:
        """Without the word that says it is a table, and its number."""
        paper, _, *rest = self.title.split(", ")
        return ", ".join([paper, *rest])

    @property
    def headline_column(self) -> Column | None:
        return next((column for column in self.columns if column.key == self.headline), None)

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)
