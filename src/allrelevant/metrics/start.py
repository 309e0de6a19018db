"""Where the descent of a metric starts."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ..arrays import Matrix
from .conditioning import HalfWhitening

Start: TypeAlias = Literal["principal", "random"]
STARTS: tuple[Start, ...] = ("principal", "random")


def start_mapping(
    start: Start, rank: int, coordinates: HalfWhitening, rng: np.random.RandomState
) -> Matrix:
    """Orthonormal rows to start from, shape (rank, n_features).

    Parameters
    ----------
    start : {"principal", "random"}
        The leading principal axes (at full rank the identity, which is the same metric), or
        random directions.
    rank : int
    coordinates : HalfWhitening
        It knows the principal axes.
    rng : RandomState
    """
    n_features = coordinates.axes.shape[1]
    if start == "random":
        return _orthonormal(rng.normal(size=(rank, n_features)))
    if rank == n_features:
        return np.eye(n_features)
    axes = coordinates.axes[:rank]
    if rank == len(axes):
        return axes.copy()
    # Fewer rows than directions wanted: what the rows leave open is drawn.
    more = rng.normal(size=(rank - len(axes), n_features))
    return np.vstack([axes, _orthonormal(more - (more @ axes.T) @ axes)])


def _orthonormal(rows: Matrix) -> Matrix:
    return np.linalg.qr(rows.T)[0].T
