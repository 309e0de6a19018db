"""A vertex to start from in a set with limits: from the baseline, a few steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..._typing import Vector
from ..programs.equivalent_models import EquivalentModels, StartingVertex
from ..programs.hinge import HingeRows
from .cutting import with_inner_start
from .l1 import finite_weights
from .simplex import Dictionary, NotAVertexError, Vertex, promising_features


def with_start(
    limited: EquivalentModels, start: StartingVertex | None, C: float
) -> EquivalentModels:
    """A limited set with a vertex to start from, if the walk to one comes to an end.

    The vertex is the model of least ``|w|_1 + C * loss`` that keeps the limits. It may overdraw a
    budget: solvers find their way inside.

    Parameters
    ----------
    limited : EquivalentModels
        Its last rows are the limits.
    start : Start or None
        Of the set without limits.
    C : float
        At which ``start`` is the cheapest model.
    """
    if start is None:
        return limited
    if not limited.rows.complete:
        return with_inner_start(limited)
    rows = limited.rows
    walkable = replace(rows, weight=_payable_weights(rows, start.rows.n_rows, C))
    try:
        vertex = Vertex(walkable, start.coef, start.offset)
    except NotAVertexError:
        return limited
    found = Dictionary(vertex, _features(rows, start), (), np.zeros(2)).cheapest(C)
    return limited if found is None else replace(limited, start=replace(found, rows=rows))


def _features(rows: HingeRows, start: StartingVertex) -> NDArray[np.intp]:
    """Features to work with: those the baseline nearly uses, and those with limits."""
    pull = np.abs(start.rows.pull(start.multipliers))
    of_limits = rows.take(np.arange(start.rows.n_rows, rows.n_rows)).table
    with_limits = np.flatnonzero(np.asarray(abs(of_limits).sum(axis=0)))
    return np.union1d(promising_features(pull), with_limits)


def _payable_weights(rows: HingeRows, n_before: int, C: float) -> Vector:
    """Weights under which it pays to meet every row that must be met, limits among them.

    The multiplier of a limit balances the pull of all other rows at its feature, and the norm.
    """
    weight = finite_weights(rows.take(np.arange(n_before)))
    of_limits = rows.take(np.arange(n_before, rows.n_rows)).table
    reach = 1.0 / C + np.asarray(abs(rows.take(np.arange(n_before)).table).T @ weight)
    return np.r_[weight, 2.0 * np.asarray(abs(of_limits) @ reach)]
