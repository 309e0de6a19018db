"""All tables, by name."""

from __future__ import annotations

from ..table import Table
from . import esann17, ferel18, krupka16

TABLES: dict[str, Table] = {
    table.name: table for paper in (ferel18, esann17, krupka16) for table in paper.TABLES
}
