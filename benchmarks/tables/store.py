"""What was measured, one JSON file a row: written whole after every seed, read to resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allrelevant.results import write_atomically

from .table import Figures, Measured, Row, Table


class Store:
    """A folder of rows.

    Parameters
    ----------
    folder : Path
        Holds one folder a table, with one file a row.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, table: Table, row: Row) -> Path:
        return self.folder / table.name / row.file_name

    def content(self, table: Table, row: Row) -> dict[str, Any]:
        """All that is kept of a row: runs by seed, versions, command."""
        path = self.path(table, row)
        return json.loads(path.read_text()) if path.exists() else {"row": row.name, "runs": {}}

    def measured(self, table: Table, row: Row) -> Measured:
        runs = self.content(table, row)["runs"]
        return {int(seed): run["figures"] for seed, run in sorted(runs.items(), key=_by_seed)}

    def add(
        self,
        table: Table,
        row: Row,
        seed: int,
        figures: Figures,
        cost: Mapping[str, float],
        versions: Mapping[str, str],
    ) -> None:
        """One more run of a row."""
        content = self.content(table, row)
        content["runs"][str(seed)] = {"figures": dict(figures), **cost}
        content["runs"] = dict(sorted(content["runs"].items(), key=_by_seed))
        content["versions"] = dict(versions)
        path = self.path(table, row)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(content, indent=1, default=float) + "\n")

    def missing(self, table: Table, row: Row, n_seeds: int) -> list[int]:
        kept = self.measured(table, row)
        return [seed for seed in range(n_seeds) if seed not in kept]


def _by_seed(entry: tuple[str, Any]) -> int:
    return int(entry[0])
