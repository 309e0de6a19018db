"""Bounds of one component of a mapping, computed by HiGHS for comparison."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.linalg

from allrelevant.bounds.mapping.row_bounds import image_rows, shortest_start, within_norm
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.ranges import weight_ranges


def bound_with_our_constraints(row: np.ndarray, directions: np.ndarray, slack: float) -> np.ndarray:
    """Compute the bounds with HiGHS, under the constraints that allrelevant uses."""
    length = np.linalg.norm(directions @ row)
    rows = image_rows(directions, row / length)
    start = shortest_start(rows)
    models = within_norm(rows, (1 + slack) * np.abs(start.coef).sum(), start)
    return length * weight_ranges(models, solver=HighsSolver).interval


def bound_with_paper_constraints(
    row: np.ndarray, directions: np.ndarray, slack: float
) -> np.ndarray:
    """Compute the bounds with HiGHS, by the LPs (6), (9) and (10) of the paper.

    The variables are alpha (free), one per direction of the null space, followed by an upper bound
    on each absolute weight. The weight is ``omega_k + sum_i alpha_i v_ik``.
    """
    null = scipy.linalg.null_space(directions)
    d, m = null.shape
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("simplex_strategy", 4)
    highs.setOptionValue("presolve", "off")
    matrix = np.vstack(
        [
            np.hstack([null, -np.eye(d)]),
            np.hstack([-null, -np.eye(d)]),
            np.hstack([np.zeros(m), np.ones(d)]),
        ]
    )
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = np.r_[np.zeros(m), np.ones(d)]
    lp.col_lower_ = np.r_[np.full(m, -np.inf), np.zeros(d)]
    lp.col_upper_ = np.full(m + d, np.inf)
    lp.row_lower_ = np.full(2 * d + 1, -np.inf)
    lp.row_upper_ = np.r_[-row, row, np.inf]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, matrix.size + 1, matrix.shape[1])
    lp.a_matrix_.index_ = np.tile(np.arange(m + d), matrix.shape[0])
    lp.a_matrix_.value_ = matrix.ravel()
    highs.passModel(lp)
    highs.run()
    norm = highs.getInfo().objective_function_value
    highs.changeRowBounds(2 * d, -np.inf, (1 + slack) * norm)
    signed = np.empty((d, 2))
    columns = np.arange(m + d, dtype=np.int32)
    for j in range(d):
        for side, sign in enumerate((1.0, -1.0)):
            highs.changeColsCost(m + d, columns, np.r_[sign * null[j], np.zeros(d)])
            highs.run()
            signed[j, side] = row[j] + sign * highs.getInfo().objective_function_value
    low, high = signed.T
    return np.column_stack(
        [np.maximum(0.0, np.maximum(low, -high)), np.maximum(np.abs(low), np.abs(high))]
    )
