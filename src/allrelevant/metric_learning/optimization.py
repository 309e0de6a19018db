"""L-BFGS over several matrices, and the coordinates in which it needs few iterations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._typing import Matrix, Vector
from ..parallel.api import progress_bar

# Smaller variances, as a share of the largest, are treated as this share. A metric overfits in
# directions of almost no variance; they must not be made easy to reach.
MIN_VARIANCE_SHARE = 1e-4

# Costs are about a mean over rows: smaller gradients make no difference.
GRADIENT_TOL = 1e-9

# scipy's status when the number of iterations is used up.
MAX_ITER_REACHED = 1


@dataclass(frozen=True)
class PartialWhitening:
    """Coordinates halfway between the original and white ones.

    Where features are correlated, variances along the principal axes differ by orders of magnitude,
    and so do the steps that a descent should take along them. Dividing by the fourth root of each
    variance evens them: ``(x P) (omega P^-1)'`` is the same mapping as ``x omega'``, but the
    descent in ``omega P^-1`` needs far fewer iterations. Full whitening needs even fewer, but
    favors directions of little variance and overfits.

    The matrix ``P`` multiplies each of the orthonormal principal ``axes``, shape
    (n_axes, n_features), by one of the ``factors``, and everything orthogonal to them by ``rest``.
    """

    axes: Matrix
    factors: Vector
    rest: float

    @classmethod
    def fit(cls, X: Matrix) -> PartialWhitening:
        """Find the coordinates of centered rows."""
        _, size, axes = np.linalg.svd(X, full_matrices=False)
        share = np.maximum((size / size[0]) ** 2, MIN_VARIANCE_SHARE)
        return cls(axes, share**-0.25, MIN_VARIANCE_SHARE**-0.25)

    def rows(self, X: Matrix) -> Matrix:
        """``X P``: rows, or prototypes, in the new coordinates."""
        return self._times(X, self.factors, self.rest)

    def original_rows(self, X: Matrix) -> Matrix:
        """``X P^-1``: rows back in their original coordinates."""
        return self._times(X, 1.0 / self.factors, 1.0 / self.rest)

    # P is symmetric: a mapping changes coordinates as rows do, the other way round.
    mapping = original_rows
    original_mapping = rows

    def _times(self, matrix: Matrix, factors: Vector, rest: float) -> Matrix:
        along = matrix @ self.axes.T
        return rest * matrix + (along * (factors - rest)) @ self.axes


# From some matrices to the cost and its gradient with respect to each.
Cost: TypeAlias = Callable[..., tuple[float, Sequence[Matrix]]]


class Minimum(NamedTuple):
    """Where a descent ended, the cost there, and the number of iterations."""

    matrices: list[Matrix]
    cost: float
    n_iter: int


def descend(
    cost: Cost,
    start: Sequence[Matrix],
    *,
    max_iter: int,
    tol: float,
    name: str,
    verbose: bool = False,
) -> Minimum:
    """Minimize a cost of several matrices by L-BFGS.

    It stops when an iteration lowers the cost by less than ``tol``, or by less than this share of a
    cost above 1. If ``max_iter`` is reached before, it warns. ``name`` is that of the estimator,
    for the message and the progress bar.
    """
    ends = np.cumsum([matrix.size for matrix in start]).tolist()
    places = [
        (slice(end - matrix.size, end), matrix.shape)
        for end, matrix in zip(ends, start, strict=True)
    ]

    def split(flat: Vector) -> list[Matrix]:
        return [flat[place].reshape(shape) for place, shape in places]

    def flat_cost(flat: Vector) -> tuple[float, Vector]:
        value, gradients = cost(*split(flat))
        return value, np.concatenate([gradient.ravel() for gradient in gradients])

    with progress_bar(name if verbose else None, max_iter) as advance:
        solution = minimize(
            flat_cost,
            np.concatenate([matrix.ravel() for matrix in start]),
            jac=True,
            method="L-BFGS-B",
            callback=(lambda _: advance() and None) if verbose else None,
            # Iterations are limited, not evaluations. A line search that needs many of these is at
            # a kink of the cost, where more of them gain nothing.
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "maxls": 10,
                "ftol": tol,
                "gtol": GRADIENT_TOL,
            },
        )
    if solution.status == MAX_ITER_REACHED:
        warnings.warn(
            f"{name} stopped after {max_iter} iterations, before its cost settled within {tol:g}: "
            "allow more with max_iter, unless it is to follow the training rows less closely.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Minimum(split(solution.x), float(solution.fun), max(1, int(solution.nit)))
