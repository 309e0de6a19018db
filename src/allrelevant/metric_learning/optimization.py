"""L-BFGS over several matrices, and partially whitened coordinates for faster convergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._typing import Matrix, Vector
from ..exceptions import warn_caller
from ..parallel.progress import progress_bar

# Minimum for variances relative to the largest. A metric overfits in directions with almost no
# variance, so these directions are not scaled up further.
MIN_VARIANCE_RATIO = 1e-4

# Costs are means over rows, so smaller gradients are negligible.
GRADIENT_TOL = 1e-9

# scipy's status code if the maximum number of iterations is reached.
MAX_ITER_REACHED = 1


@dataclass(frozen=True)
class PartialWhitening:
    """Coordinates halfway between the original and the whitened coordinates.

    If features are correlated, the variances along the principal axes differ by orders of
    magnitude, and the optimal step sizes differ accordingly. Dividing by the fourth root of each
    variance balances them: ``(x P) (omega P^-1)'`` is the same mapping as ``x omega'``, but L-BFGS
    needs far fewer iterations for ``omega P^-1``. Full whitening needs even fewer iterations, but
    it favors directions with little variance and overfits.

    The matrix ``P`` multiplies each of the orthonormal principal ``axes``, shape
    (n_axes, n_features), by one of the ``factors``, and the orthogonal complement by ``rest``.
    """

    axes: Matrix
    factors: Vector
    rest: float

    @classmethod
    def fit(cls, X: Matrix, weight: Vector | None = None) -> PartialWhitening:
        """Return the partially whitened coordinates for centered data."""
        weighted = X if weight is None else np.sqrt(weight)[:, np.newaxis] * X
        _, size, axes = np.linalg.svd(weighted, full_matrices=False)
        ratio = np.maximum((size / size[0]) ** 2, MIN_VARIANCE_RATIO)
        return cls(axes, ratio**-0.25, MIN_VARIANCE_RATIO**-0.25)

    def rows(self, X: Matrix) -> Matrix:
        """Transform samples or prototypes to the partially whitened coordinates: ``X P``."""
        return self._times(X, self.factors, self.rest)

    def original_rows(self, X: Matrix) -> Matrix:
        """Transform samples back to the original coordinates: ``X P^-1``."""
        return self._times(X, 1.0 / self.factors, 1.0 / self.rest)

    # P is symmetric, so mappings transform like rows, in the opposite direction.
    mapping = original_rows
    original_mapping = rows

    def _times(self, matrix: Matrix, factors: Vector, rest: float) -> Matrix:
        along = matrix @ self.axes.T
        return rest * matrix + (along * (factors - rest)) @ self.axes


# Function that maps several matrices to the cost and its gradient with respect to each matrix.
Cost: TypeAlias = Callable[..., tuple[float, Sequence[Matrix]]]


class Minimum(NamedTuple):
    """Result of a minimization: the matrices, the cost and the number of iterations."""

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
    """Minimize a cost function of several matrices with L-BFGS.

    The minimization stops when an iteration reduces the cost by less than ``tol * max(1, cost)``.
    If ``max_iter`` is reached first, a warning is issued. ``name`` is the name of the estimator,
    used in the warning and the progress bar.
    """
    ends = np.cumsum([matrix.size for matrix in start]).tolist()
    parts = [
        (slice(end - matrix.size, end), matrix.shape)
        for end, matrix in zip(ends, start, strict=True)
    ]

    def split(flat: Vector) -> list[Matrix]:
        return [flat[part].reshape(shape) for part, shape in parts]

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
            # In practice, only iterations are limited, not evaluations. A line search that needs
            # many evaluations is at a nondifferentiable point of the cost, where more are useless.
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "maxls": 10,
                "ftol": tol,
                "gtol": GRADIENT_TOL,
            },
        )
    if solution.status == MAX_ITER_REACHED:
        warn_caller(
            f"{name} stopped after {max_iter} iterations without converging to tol={tol:g}. "
            "Increase max_iter, unless early stopping is intended as regularization.",
            ConvergenceWarning,
        )
    return Minimum(split(solution.x), float(solution.fun), max(1, int(solution.nit)))
