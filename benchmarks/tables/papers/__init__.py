"""All reproduced papers, and their tables by name."""

from __future__ import annotations

from ..table import Table
from . import esann17, ferel18, krupka16, schulz15, sfs20, time_by_size

PAPERS = [paper.PAPER for paper in (ferel18, esann17, schulz15, krupka16, sfs20)]
OTHER_TABLES = time_by_size.TABLES
TABLES: dict[str, Table] = {
    table.name: table
    for table in [*(table for paper in PAPERS for table in paper.tables), *OTHER_TABLES]
}
