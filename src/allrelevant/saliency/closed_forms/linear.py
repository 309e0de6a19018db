"""Models that are linear in their inputs: the gradient is a row of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Table, Vector
from ..gains import Gain


@dataclass(frozen=True)
class LinearForm:
    """Outputs that are weighted sums of the features.

    Attributes
    ----------
    weights : ndarray of shape (k, d)
    offsets : ndarray of shape (k,)
    gain : Gain
    """

    weights: Matrix
    offsets: Vector
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return np.asarray(X @ self.weights.T) + self.offsets

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return cotangent @ self.weights


def linear_form(fitted: Any, gain: Gain, scale: tuple[float, float] | None = None) -> LinearForm:
    """From the ``coef_`` and ``intercept_`` of a fitted estimator.

    Parameters
    ----------
    fitted : estimator
    gain : Gain
    scale : tuple of float, default=None
        What makes two outputs of the one decision of a binary classifier; None of a regression.
    """
    coef = fitted.coef_.toarray() if sp.issparse(fitted.coef_) else fitted.coef_
    weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    offsets = np.broadcast_to(np.asarray(fitted.intercept_, dtype=np.float64), (len(weights),))
    if scale is not None and len(weights) == 1:
        factors = np.array(scale)
        return LinearForm(factors[:, None] * weights, factors * offsets, gain)
    return LinearForm(weights, offsets, gain)
