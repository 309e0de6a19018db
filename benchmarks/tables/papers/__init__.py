"""All tables, by name."""

from __future__ import annotations

from ..table import Table
from . import esann17, ferel18, krupka16, schulz15, sfs20, time_by_size

TABLES: dict[str, Table] = {
    table.name: table
    for paper in (ferel18, esann17, schulz15, krupka16, sfs20, time_by_size)
    for table in paper.TABLES
}
