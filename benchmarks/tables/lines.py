"""Lines of a table, ready to be written: mean and spread, the paper's figure, what fell short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .store import Store
from .table import Column, Measured, Table


@dataclass(frozen=True)
class Line:
    """One row as measured.

    Attributes
    ----------
    name : str
    measured : mapping
        Figures by seed.
    published : mapping of str to float
    ours : bool
    n_seeds : int
        Asked for; there may be fewer.
    seconds, megabytes : float or None
        Median over seeds, and largest; None for derived lines.
    """

    name: str
    measured: Measured
    published: Mapping[str, float]
    ours: bool = False
    n_seeds: int = 0
    seconds: float | None = None
    megabytes: float | None = None

    def mean(self, key: str) -> float | None:
        """Over seeds; None if the row has no such figure."""
        values = [run[key] for run in self.measured.values() if key in run]
        return float(np.mean(values)) if values else None

    def spread(self, key: str) -> float | None:
        """Standard deviation over seeds; None for a single one."""
        values = [run[key] for run in self.measured.values() if key in run]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    def falls_short(self, column: Column) -> bool:
        """Whether the mean is worse than the paper's figure, by more than that was rounded."""
        mean, published = self.mean(column.key), self.published.get(column.key)
        if mean is None or published is None or not column.better:
            return False
        worse_by = published - mean if column.better == "higher" else mean - published
        return worse_by > 0.5 * 10**-column.digits


def lines_of(table: Table, store: Store) -> list[Line]:
    """Measured rows in the order of the table, then those derived from them."""
    lines = []
    for row in table.rows:
        content = store.content(table, row)
        runs = content["runs"].values()
        if not runs:
            continue
        lines.append(
            Line(
                row.name,
                store.measured(table, row),
                row.published,
                row.ours,
                row.seeds,
                float(np.median([run["seconds"] for run in runs])),
                max((run["megabytes"] for run in runs if "megabytes" in run), default=None),
            )
        )
    if table.derive is not None and lines:
        found = table.derive({line.name: line.measured for line in lines})
        lines += [Line(one.name, one.figures, one.published, one.ours) for one in found]
    return lines


def best_of(lines: list[Line], column: Column) -> float | None:
    """The best mean of a column, as it is printed; None if its rows do not compete."""
    means = [mean for line in lines if (mean := line.mean(column.key)) is not None]
    if len(means) < 2 or not column.better or not column.competing:
        return None
    return round(max(means) if column.better == "higher" else min(means), column.digits)


def short_lines(table: Table, lines: list[Line]) -> list[Line]:
    return [line for line in lines if any(line.falls_short(column) for column in table.columns)]
