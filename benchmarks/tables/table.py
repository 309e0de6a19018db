"""Description of a table of results: its columns, its rows and their measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Result of one run of a row: numbers by name. Plots also use lists.
Figures = Mapping[str, Any]
# Results of a row by seed.
Measured = Mapping[int, Figures]
# Key of the remark that explains why no method of allrelevant is best.
NOT_BEST = "not best"
# Maps a seed and the data folder to figures. The folder contains the file that the row requires.
Measure = Callable[[int, Path], Figures]


@dataclass(frozen=True)
class Column:
    """A column of a table, with the key and the format of its values.

    Attributes
    ----------
    title : str
    key : str
        Key of the number in the figures.
    digits : int
    better : {"higher", "lower", ""}
        Whether higher or lower numbers are better; "" if numbers are not compared.
    in_parentheses : str
        Key of a second number, shown in parentheses; usually a number of features.
    """

    title: str
    key: str
    digits: int = 2
    better: str = "higher"
    in_parentheses: str = ""


@dataclass(frozen=True)
class Row:
    """One measured row of a table.

    Attributes
    ----------
    name : str
    measure : callable
        Function that returns the figures of one run (see ``Measure``). The same seed must give the
        same figures.
    published : mapping of str to float
        The paper's figures by key.
    seeds : int
        Number of seeds, starting at 0.
    quick : int
        Number of seeds in a quick run; 0 skips the row.
    data_file : str
        File that the row requires in the data folder; the row is skipped if the file is missing.
    is_ours : bool
        Whether this is a method of allrelevant.
    """

    name: str
    measure: Measure
    published: Mapping[str, float] = field(default_factory=dict)
    seeds: int = 10
    quick: int = 2
    data_file: str = ""
    is_ours: bool = False


@dataclass(frozen=True)
class Derived:
    """A row computed from measured rows, such as a mean over tasks.

    Attributes
    ----------
    name : str
    figures : mapping
    published : mapping of str to float
        The paper's figures by key, as printed.
    corrected : mapping of str to float
        Corrections of misprints in ``published``, used in the comparison.
    is_ours : bool
    """

    name: str
    figures: Measured
    published: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[str, float] = field(default_factory=dict)
    is_ours: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot of the measured rows.

    ``draw`` takes the measured figures by row. It returns a matplotlib figure, or None if required
    rows are missing.
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
        Paper and number; also the name of its page and of its file of runs.
    title : str
    about : str
        Markdown text on the measurement, its settings and the differences from the paper.
    columns : sequence of Column
    rows : sequence of Row
    row_header : str
        Title of the first column.
    source : {"paper", "thesis"}
        Kind of publication, as pages call it.
    remarks : mapping of str to str
        Reasons why rows are worse than the paper, by row name; the key "" covers all other rows.
        The remark ``NOT_BEST`` explains why no row of allrelevant is best in the headline column.
    derive : callable or None
        Function that computes further rows from the measured ones.
    plots : sequence of Plot
    rows_are_methods : bool
        Whether the rows are methods on the same data; if so, the best value of a column is bold.
    headline : str
        Key of the column in which the index compares allrelevant with other methods.
    """

    name: str
    title: str
    about: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    row_header: str = "method"
    source: str = "paper"
    remarks: Mapping[str, str] = field(default_factory=dict)
    derive: Callable[[Mapping[str, Measured]], Sequence[Derived]] | None = None
    plots: Sequence[Plot] = ()
    rows_are_methods: bool = True
    headline: str = ""

    @property
    def short_title(self) -> str:
        """Return the title without the number of the table."""
        paper, _, *rest = self.title.split(", ")
        return ", ".join([paper, *rest])

    @property
    def headline_column(self) -> Column | None:
        return next((column for column in self.columns if column.key == self.headline), None)

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


@dataclass(frozen=True)
class Paper:
    """A paper with its reproduced tables.

    Attributes
    ----------
    name : str
        Short name, the prefix of its tables' names.
    citation : str
    tables : sequence of Table
    not_reproduced : sequence of str
        Sentences about results that are not reproduced or only in part, with the reasons.
    """

    name: str
    citation: str
    tables: Sequence[Table]
    not_reproduced: Sequence[str]
