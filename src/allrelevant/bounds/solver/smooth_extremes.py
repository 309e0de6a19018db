"""An extreme of a set whose loss is all but smooth, by sequential quadratic programming."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...arrays import Matrix, Vector
from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import EquivalentModels
from ..programs.hinge_rows import HingeRows
from ..programs.pairwise_loss import PairwiseLoss
from .extremes import Extreme

# Steps of which the points are kept: around the last ones the set should be known well.
_LAST = 8

_MOST_STEPS = 100

# With more weights than this a step takes too long.
_MOST_WEIGHTS = 300


def smooth_extreme(models: EquivalentModels, loss: PairwiseLoss, extreme: Extreme) -> Matrix:
    """Models on the way to an extreme, the last one next to it, shape (m, d).

    Variables are the positive and the negative parts of the weights, so that the norm is linear.
    What comes out is nothing but a suggestion: it may lie outside the set.
    """
    from scipy.optimize import minimize

    assert models.start is not None
    start, d = models.start.coef, len(models.start.coef)
    if d > _MOST_WEIGHTS:
        return start[None]
    norm_budget, loss_budget = models.budgets
    visited = [start]

    @lru_cache(maxsize=2)  # the value and the slope of a point are asked for one after the other
    def loss_and_slope(point: bytes) -> tuple[float, Vector]:
        parts = np.frombuffer(point)
        value, cut = loss.loss_and_cut(parts[:d] - parts[d:])
        return value, cut.slope

    def spare_loss(parts: Vector) -> float:
        return loss_budget.limit - loss_and_slope(parts.tobytes())[0]

    def slope_of_spare_loss(parts: Vector) -> Vector:
        visited.append(parts[:d] - parts[d:])
        slope = loss_and_slope(parts.tobytes())[1]
        return np.r_[slope, -slope]

    gain = np.zeros(2 * d)
    gain[[extreme.feature, d + extreme.feature]] = extreme.sign, -extreme.sign
    minimize(
        lambda parts: -gain @ parts,
        np.r_[np.maximum(start, 0.0), np.maximum(-start, 0.0)],
        jac=lambda parts: -gain,
        method="SLSQP",
        bounds=_bounds_of_parts(models.rows),
        constraints=[
            {"type": "ineq", "fun": spare_loss, "jac": slope_of_spare_loss},
            {
                "type": "ineq",
                "fun": lambda parts: norm_budget.limit - parts.sum(),
                "jac": lambda parts: -np.ones(2 * d),
            },
        ],
        options={"maxiter": _MOST_STEPS, "ftol": 1e-10},
    )
    return np.array(visited[-_LAST:])


def _bounds_of_parts(rows: HingeRows) -> list[tuple[float, float]]:
    """Bounds of the positive, then of the negative parts of the weights."""
    assert isinstance(rows, CutRows)
    low, high = rows.weight_limits.T
    positive = zip(np.maximum(low, 0.0), np.maximum(high, 0.0), strict=True)
    negative = zip(np.maximum(-high, 0.0), np.maximum(-low, 0.0), strict=True)
    return [*positive, *negative]
