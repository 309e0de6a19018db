"""Proofs: what a vector of duals says about the smallest value of an objective.

For any row duals u, weak duality gives, over the polytope ``l <= A x <= u``::

    cost . x  >=  sum_i (u_i times the bound it points to)  +  sum_k min over x_k of z_k x_k,
    z = cost - A' u.

The right-hand side needs no solver: it is recomputed here from the program's own arrays, so a
bound does not rest on trust in the solver that found the duals. Rounding leaves some z_k slightly
negative on columns without an upper bound, which would make the sum minus infinity. The budget
rows mend that: lowering a budget's dual by t raises z_k by t times its (positive) coefficient.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Matrix, Vector
from ..programs.equivalent_models import Cover, EquivalentModels
from ..programs.linear_program import LinearProgram


def certified_minima(models: EquivalentModels, cost: Matrix, row_dual: Matrix) -> Vector:
    """Proven lower bounds on several objectives over a set of models.

    Parameters
    ----------
    models : EquivalentModels
    cost : ndarray of shape (n_objectives, n_columns)
    row_dual : ndarray of shape (n_objectives, n_rows)
        Any duals: the better they are, the tighter the bound; it is valid in any case.

    Returns
    -------
    ndarray of shape (n_objectives,)
    """
    program = models.program
    dual = _drop_meaningless(program, row_dual)
    reduced = cost - dual @ program.matrix
    for cover in models.covers:
        _mend(cover, dual, reduced)
    return _bound_side(dual, program.row_lower, program.row_upper) + _bound_side(
        reduced, program.column_lower, program.column_upper
    )


def _drop_meaningless(program: LinearProgram, row_dual: Matrix) -> Matrix:
    """A dual that points to an infinite bound proves nothing: set it to zero."""
    points_nowhere = ((row_dual > 0) & np.isinf(program.row_lower)) | (
        (row_dual < 0) & np.isinf(program.row_upper)
    )
    return np.where(points_nowhere, 0.0, row_dual)


def _mend(cover: Cover, dual: Matrix, reduced: Matrix) -> None:
    """Lower the budget's dual until no column it covers has a negative reduced cost."""
    covered = reduced[:, cover.columns]
    shortfall = np.max(-covered / cover.coefficients, axis=1, initial=0.0)
    dual[:, cover.row] -= shortfall
    # The maximum clears what rounding leaves below zero.
    reduced[:, cover.columns] = np.maximum(covered + np.outer(shortfall, cover.coefficients), 0.0)


def _bound_side(multiplier: Matrix, lower: Vector, upper: Vector) -> Vector:
    """Smallest value of ``multiplier . x`` over ``lower <= x <= upper``, by row."""
    no_lower, no_upper = np.isinf(lower), np.isinf(upper)
    unbounded = ((multiplier > 0) & no_lower) | ((multiplier < 0) & no_upper)
    value = np.maximum(multiplier, 0.0) @ np.where(no_lower, 0.0, lower)
    value += np.minimum(multiplier, 0.0) @ np.where(no_upper, 0.0, upper)
    return np.where(unbounded.any(axis=1), -np.inf, value)
