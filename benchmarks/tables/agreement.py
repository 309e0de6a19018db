"""Does a new run give the figures that are published here? Seed by seed, within the spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .lines import lines_of
from .store import Store
from .table import Table


@dataclass(frozen=True)
class Disagreement:
    """A figure that is further from the published one than the published spread."""

    row: str
    key: str
    new: float
    published: float
    allowed: float

    def __str__(self) -> str:
        return (
            f"{self.row}, {self.key}: {self.new:g} here, {self.published:g} published "
            f"(± {self.allowed:g})"
        )


@dataclass(frozen=True)
class Agreement:
    """How many figures were compared, and which disagree."""

    n_compared: int
    disagreements: list[Disagreement]


def compare(tables: Sequence[Table], new: Store, published: Store) -> Agreement:
    pairs = [pair for table in tables for pair in _pairs(table, new, published)]
    return Agreement(len(pairs), [pair for pair in pairs if _apart(pair)])


def _apart(pair: Disagreement) -> bool:
    return abs(pair.new - pair.published) > pair.allowed


def _pairs(table: Table, new: Store, published: Store) -> Iterator[Disagreement]:
    """Every figure of a column that both have, with what it may differ by."""
    known = {line.name: line for line in lines_of(table, published)}
    for line in lines_of(table, new):
        before = known.get(line.name)
        if before is None:
            continue
        for column in table.columns:
            for seed, figures in line.measured.items():
                values = figures.get(column.key), before.measured.get(seed, {}).get(column.key)
                if values[0] is None or values[1] is None:
                    continue
                rounding = 10**-column.digits
                allowed = max(rounding, before.spread(column.key) or 0.0)
                title = f"{table.name}, {line.name}, seed {seed}"
                yield Disagreement(title, column.key, values[0], values[1], allowed)
