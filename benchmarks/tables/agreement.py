"""Comparison of new runs with the published runs of the same seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .lines import table_lines
from .store import Store
from .table import Table


@dataclass(frozen=True)
class FigurePair:
    """A newly measured value and the published value of the same seed.

    Attributes
    ----------
    row, key : str
    new, published : float
    tolerance : float
        Standard deviation of the published figure over seeds, or its rounding unit if larger.
    """

    row: str
    key: str
    new: float
    published: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        return abs(self.new - self.published) <= self.tolerance

    def __str__(self) -> str:
        return (
            f"{self.row}, {self.key}: {self.new:g} (published: {self.published:g} "
            f"± {self.tolerance:g})"
        )


@dataclass(frozen=True)
class Agreement:
    """Number of compared values, and the pairs of values that disagree."""

    n_compared: int
    disagreements: list[FigurePair]


def compare(tables: Sequence[Table], new: Store, published: Store) -> Agreement:
    """Compare all values that both stores contain for the same seed."""
    pairs = [pair for table in tables for pair in _pairs(table, new, published)]
    return Agreement(len(pairs), [pair for pair in pairs if not pair.agrees])


def _pairs(table: Table, new: Store, published: Store) -> Iterator[FigurePair]:
    published_lines = {line.name: line for line in table_lines(table, published)}
    for line in table_lines(table, new):
        before = published_lines.get(line.name)
        if before is None:
            continue
        for column in table.columns:
            for seed, figures in line.measured.items():
                values = figures.get(column.key), before.measured.get(seed, {}).get(column.key)
                if values[0] is None or values[1] is None:
                    continue
                rounding = 10**-column.digits
                tolerance = max(rounding, before.std(column.key) or 0.0)
                title = f"{table.name}, {line.name}, seed {seed}"
                yield FigurePair(title, column.key, values[0], values[1], tolerance)
