"""Storage of the measured runs: one JSON file per table, written after every seed."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allrelevant.results import write_atomically

from .table import Figures, Measured, Row, Table


class Store:
    """Measured runs, kept in a folder with one JSON file per table.

    A file maps the name of each row to its runs, by seed, and to the package versions of the last
    run.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, table: Table) -> Path:
        return self.folder / f"{table.name}.json"

    def content(self, table: Table, row: Row) -> dict[str, Any]:
        """Return the stored runs and package versions of a row, without runs if not measured."""
        return self._read(table).get(row.name, {"runs": {}})

    def measured(self, table: Table, row: Row) -> Measured:
        """Return the measured values of a row by seed."""
        runs = self.content(table, row)["runs"]
        return {int(seed): runs[seed]["figures"] for seed in sorted(runs, key=int)}

    def missing(self, table: Table, row: Row, n_seeds: int) -> list[int]:
        """Return the seeds below ``n_seeds`` that are not stored yet."""
        stored = self.measured(table, row)
        return [seed for seed in range(n_seeds) if seed not in stored]

    def add(
        self,
        table: Table,
        row: Row,
        seed: int,
        figures: Figures,
        cost: Mapping[str, float],
        versions: Mapping[str, str],
    ) -> None:
        """Add one run of a row; other processes may add runs of the same table meanwhile."""
        with self._locked():
            content = self._read(table)
            entry = content.setdefault(row.name, {"runs": {}})
            entry["runs"][str(seed)] = {"figures": dict(figures), **cost}
            entry["versions"] = dict(versions)
            write_atomically(self.path(table), to_json(content))

    def _read(self, table: Table) -> dict[str, Any]:
        path = self.path(table)
        return json.loads(path.read_text()) if path.exists() else {}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the folder itself, so that no lock file remains."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)  # releases the lock


def to_json(content: Mapping[str, Any]) -> str:
    """Return indented JSON with sorted keys and with each list of numbers on one line."""
    text = json.dumps(content, indent=1, sort_keys=True, default=float)
    return re.sub(r"\[[^\[\]{}]*\]", _on_one_line, text) + "\n"


def _on_one_line(match: re.Match[str]) -> str:
    return " ".join(match[0].split()).replace("[ ", "[").replace(" ]", "]")
