"""Coordinates in which a metric is learned in few iterations.

Descent to a minimum of a smooth cost of some matrices.
"""

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

# Variances smaller than this share of the largest are taken to be of this share. Directions of
# next to no variance are where a metric overfits; they are not to be made easy to reach.
_SMALLEST_SHARE = 1e-4


@dataclass(frozen=True)
class PartialWhitening:
    """Rows halfway between their own coordinates and white ones.

    Where features are correlated, variances along the principal axes differ by orders of
    magnitude, and so do the steps that a descent should take along them. Taking the fourth root of
    each variance out evens them: ``(x P) (omega P^-1)'`` is the same mapping as ``x omega'``, but
    the descent in ``omega P^-1`` needs far fewer iterations. Whitening altogether needs fewer
    still, but reaches for directions of little variance first, and overfits.

    Attributes
    ----------
    axes : ndarray of shape (n_axes, n_features)
        Orthonormal rows: the principal axes.
    factors : ndarray of shape (n_axes,)
        What the matrix ``P`` multiplies each axis with.
    rest : float
        What it multiplies everything orthogonal to the axes with.
    """

    axes: Matrix
    factors: Vector
    rest: float

    @classmethod
    def of(cls, X: Matrix) -> PartialWhitening:
        """From centred rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        >>> PartialWhitening.of(X).rows(X).round(6).tolist()
        [[4.0, 0.0], [-4.0, 0.0], [0.0, 2.0], [0.0, -2.0]]
        """
        _, size, axes = np.linalg.svd(X, full_matrices=False)
        share = np.maximum((size / size[0]) ** 2, _SMALLEST_SHARE)
        return cls(axes, share**-0.25, _SMALLEST_SHARE**-0.25)

    def rows(self, X: Matrix) -> Matrix:
        """``X P``: rows, or prototypes, in the new coordinates."""
        return self._times(X, self.factors, self.rest)

    def original_rows(self, X: Matrix) -> Matrix:
        """Rows back in their own coordinates."""
        return self._times(X, 1.0 / self.factors, 1.0 / self.rest)

    def mapping(self, omega: Matrix) -> Matrix:
        """``omega P^-1``: the same mapping, of rows in the new coordinates."""
        return self.original_rows(omega)

    def original_mapping(self, omega: Matrix) -> Matrix:
        """A mapping back in the original coordinates."""
        return self.rows(omega)

    def _times(self, matrix: Matrix, factors: Vector, rest: float) -> Matrix:
        along = matrix @ self.axes.T
        return rest * matrix + (along * (factors - rest)) @ self.axes


Cost: TypeAlias = Callable[..., tuple[float, Sequence[Matrix]]]


# scipy's status where the allowed iterations ran out.
_ITERATIONS_RAN_OUT = 1


# Costs are means over rows or near it: gradients smaller than this lead nowhere.
_FLAT = 1e-9


class Minimum(NamedTuple):
    """Where a descent ended, what the cost is there, and after how many iterations."""

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
    """Minimise by L-BFGS.

    Parameters
    ----------
    cost : callable
        Of as many matrices as ``start`` has; gives its value and one gradient for each.
    start : sequence of ndarrays
    max_iter : int
        When they run out, a ``ConvergenceWarning`` says so.
    tol : float
        Stop when an iteration lowers the cost by less than this, or by less than this share of a
        cost above 1.
    name : str
        What is fitted, for messages.
    verbose : bool, default=False
        Show a progress bar.

    Examples
    --------
    >>> import numpy as np
    >>> def cost(a, b):
    ...     return float((a**2).sum() + ((b - 1) ** 2).sum()), [2 * a, 2 * (b - 1)]
    >>> found = descend(cost, [np.ones((2, 2)), np.ones((1, 3))], max_iter=50, tol=1e-9, name="a")
    >>> [m.round(6).tolist() for m in found.matrices]
    [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0, 1.0]]]
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
        found = minimize(
            flat_cost,
            np.concatenate([matrix.ravel() for matrix in start]),
            jac=True,
            method="L-BFGS-B",
            callback=(lambda _: advance() and None) if verbose else None,
            # A line search may need a few evaluations; iterations are what is limited. One that
            # needs many has run into a kink of the cost, where more of them gain nothing.
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "maxls": 10,
                "ftol": tol,
                "gtol": _FLAT,
            },
        )
    if found.status == _ITERATIONS_RAN_OUT:
        warnings.warn(
            f"{name} stopped after {max_iter} iterations, before its cost settled within {tol:g}: "
            "allow more with max_iter, unless it is to follow the training rows less closely.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Minimum(split(found.x), float(found.fun), max(1, int(found.nit)))
