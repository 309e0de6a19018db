"""The user's table as a proof describes it: cells, rows, and how they become scaled columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from .._text import join_names
from .._typing import Matrix, Vector
from ..exceptions import InputError
from ..proof_checker import digest
from ..tables.parsing import MISSING
from ..terms.columns import Column, Frame, columns_from_frame
from ..terms.encoding import TableEncoding
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling

Cell = float | str | None


@dataclass(frozen=True)
class ProofRequest:
    """Table, target and sample weights that were passed to ``fit``.

    ``target`` is the name of the target. ``rows`` are the indices of the rows in the user's table,
    if they are only some of its rows.
    """

    X: Any
    y: Any
    sample_weight: ArrayLike | None
    target: str
    rows: Sequence[int] | None = None


@dataclass(frozen=True)
class ProofTable:
    """Cells of the user's table: ``cells`` maps columns to numbers, words or None (missing).

    ``features`` are the columns besides the target. ``X`` is the table that was passed to ``fit``,
    ``present`` are the indices of its rows of positive weight, and ``rows`` the indices of the same
    rows in the user's table.
    """

    X: Any
    cells: dict[str, list[Cell]]
    features: list[str]
    target: str
    present: NDArray[np.intp]
    rows: NDArray[np.intp]

    @classmethod
    def from_request(cls, request: ProofRequest, names: Sequence[str]) -> ProofTable:
        """Read the table and the target that were passed to ``fit``."""
        X, target = request.X, request.target
        columns = columns_from_frame(X)
        if columns is None:
            columns = list(Frame.from_numpy(np.asarray(X, dtype=np.float64), names))
        labels = np.asarray(request.y).tolist()
        check_consistent_length(labels, *(column.values for column in columns))
        features = [column.name for column in columns]
        if target in features:
            raise InputError(
                f"The target and a feature are both called {target!r}. Pass another name as target."
            )
        cells = {column.name: _cells(column) for column in columns}
        cells[target] = [_label_cell(label) for label in labels]
        weight = np.ones(len(labels)) if request.sample_weight is None else request.sample_weight
        present = np.flatnonzero(np.asarray(weight) > 0)
        if request.rows is None:
            return cls(X, cells, features, target, present, present)
        rows = np.asarray(request.rows)
        spread = {name: _spread(values, rows.tolist()) for name, values in cells.items()}
        return cls(X, spread, features, target, present, rows[present])

    def used(self, name: str) -> list[Cell]:
        """Return the cells of a column in the rows of positive weight."""
        cells = self.cells[name]
        return [cells[i] for i in self.rows.tolist()]

    def describe(self, columns: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the parts of a proof that describe the table, given its scaled columns."""
        names = sorted({self.target, *(column["source"] for column in columns)})
        return {
            "target": self.target,
            "rows": self.rows.tolist(),
            "kinds": {name: self._kind(name) for name in names},
            "missing": sorted({*MISSING, "?"}),
            "columns": list(columns),
            "fingerprint": digest([self.used(name) for name in names]),
        }

    def columns(
        self, layout: WeightLayout, scaling: Scaling, encoding: TableEncoding | None
    ) -> list[dict[str, Any]]:
        """Describe the scaled column of each weight."""
        encoded, sources = self._encoded(encoding)
        if encoded.shape[1] != layout.n_weights:
            raise other_table()
        fill = np.zeros(layout.n_weights) if scaling.fill is None else scaling.fill
        features = layout.features_of_weights.tolist()
        return [
            {
                "name": _column_name(layout, feature, k),
                **self._origin(encoded[:, k], sources[feature], float(fill[k])),
                "center": float(scaling.mean[k]),
                "factor": float(scaling.factor[k]),
            }
            for k, feature in enumerate(features)
        ]

    def _encoded(self, encoding: TableEncoding | None) -> tuple[Matrix, Sequence[tuple[str, ...]]]:
        """Return the columns of numbers before scaling, and the source columns of each feature."""
        if encoding is not None:
            return encoding.encode(self.X)[self.present], encoding.sources
        numbers = [np.array(self.used(name), dtype=float) for name in self.features]
        return np.column_stack(numbers), [(name,) for name in self.features]

    def _origin(self, values: Vector, sources: Sequence[str], fill: float) -> dict[str, Any]:
        """Describe how cells become the values of a column: as numbers, or as an indicator."""
        for source in sources:
            cells = self.used(source)
            if _are_numbers(cells, values):
                return {"source": source, **({"fill": fill} if None in cells else {})}
        source, cells = sources[0], self.used(sources[0])
        ones, zeros = ({c for c, v in zip(cells, values, strict=True) if v == x} for x in (1, 0))
        if len(sources) > 1 or ones & zeros or ones | zeros != set(cells):
            raise InputError(
                f"A proof cannot describe the column {join_names(sources)}. Drop it to export one."
            )
        return {"source": source, "equals": sorted(ones, key=str)}

    def _kind(self, name: str) -> str:
        return "word" if any(isinstance(cell, str) for cell in self.cells[name]) else "number"


def _are_numbers(cells: Sequence[Cell], values: Vector) -> bool:
    """Return whether values are cells that are numbers, and NaN where a cell is missing."""
    return all(
        bool(np.isnan(value)) if cell is None else cell == value
        for cell, value in zip(cells, values.tolist(), strict=True)
    )


def _column_name(layout: WeightLayout, feature: int, weight: int) -> str:
    name = layout.names[feature]
    block = layout.blocks.get(feature)
    return name if block is None else f"{name} [{block.labels[weight - layout.starts[feature]]}]"


def _cells(column: Column) -> list[Cell]:
    if column.has_levels:
        return list(column.words())
    return [None if np.isnan(value) else value for value in column.values.tolist()]


def _spread(cells: Sequence[Cell], rows: Sequence[int]) -> list[Cell]:
    """Return a column of the user's table, given the cells of some of its rows."""
    spread: list[Cell] = [None] * (max(rows) + 1)
    for row, cell in zip(rows, cells, strict=True):
        spread[row] = cell
    return spread


def _label_cell(label: Any) -> Cell:
    return float(label) if isinstance(label, int | float) else str(label)


def class_codes(cells: Sequence[Cell], codes: Vector) -> dict[str, Any]:
    """Return the code of each class, as in a proof."""
    pairs = sorted(set(zip(cells, codes.astype(int).tolist(), strict=True)), key=str)
    if len({cell for cell, _ in pairs}) < len(pairs):
        raise other_table()
    return {"codes": [list(pair) for pair in pairs]}


def other_table() -> InputError:
    """Return the error for a table that is not the one of the fit."""
    return InputError(
        "The table differs from the one that was passed to fit. Pass the same table, target and "
        "sample weights to export_proof."
    )
