"""Rows of a table: means and standard deviations over seeds, compared with the paper's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .store import Store
from .table import Column, Measured, Table


@dataclass(frozen=True)
class Line:
    """One measured or derived row of a table, with its values by seed.

    Attributes
    ----------
    name : str
    measured : mapping
        Figures by seed.
    published, corrected : mapping of str to float
        The paper's figures as printed, and corrections of misprints.
    is_ours : bool
    n_seeds : int
        Intended number of seeds, possibly more than were measured; 0 for derived rows.
    seconds, processor_seconds : float or None
        Median over the runs; None if not measured.
    megabytes : float or None
        Maximum over the runs.
    """

    name: str
    measured: Measured
    published: Mapping[str, float]
    corrected: Mapping[str, float] = field(default_factory=dict)
    is_ours: bool = False
    n_seeds: int = 0
    seconds: float | None = None
    processor_seconds: float | None = None
    megabytes: float | None = None

    def mean(self, key: str) -> float | None:
        """Return the mean of a value over seeds, or None if the row does not contain it."""
        values = [run[key] for run in self.measured.values() if key in run]
        return float(np.mean(values)) if values else None

    def std(self, key: str) -> float | None:
        """Return the standard deviation of a value over seeds, or None for a single seed."""
        values = [run[key] for run in self.measured.values() if key in run]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    def is_worse_than_paper(self, column: Column) -> bool:
        """Return whether the mean is worse than the paper's value by more than rounding error."""
        mean = self.mean(column.key)
        published = self.corrected.get(column.key, self.published.get(column.key))
        if mean is None or published is None or not column.better:
            return False
        worse_by = published - mean if column.better == "higher" else mean - published
        return worse_by > 0.5 * 10**-column.digits


def table_lines(table: Table, store: Store) -> list[Line]:
    """Return the measured rows in the order of the table, then the derived ones."""
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
                is_ours=row.is_ours,
                n_seeds=row.seeds,
                seconds=_median(runs, "seconds"),
                processor_seconds=_median(runs, "processor_seconds"),
                megabytes=max(
                    (run["megabytes"] for run in runs if "megabytes" in run), default=None
                ),
            )
        )
    if table.derive is not None and lines:
        derived = table.derive({line.name: line.measured for line in lines})
        lines += [
            Line(one.name, one.figures, one.published, one.corrected, one.is_ours)
            for one in derived
        ]
    return lines


def _median(runs: Iterable[Mapping[str, Any]], key: str) -> float | None:
    values = [run[key] for run in runs if key in run]
    return float(np.median(values)) if values else None


def best_mean(lines: list[Line], column: Column) -> float | None:
    """Return the best mean of a column, rounded as it is printed."""
    means = [mean for line in lines if (mean := line.mean(column.key)) is not None]
    if len(means) < 2 or not column.better:
        return None
    return round(max(means) if column.better == "higher" else min(means), column.digits)


def lines_worse_than_paper(table: Table, lines: list[Line]) -> list[Line]:
    return [
        line for line in lines if any(line.is_worse_than_paper(column) for column in table.columns)
    ]
