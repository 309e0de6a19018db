"""Descent to a minimum of a smooth cost of some matrices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Matrix, Vector
from ..parallel.progress import progress_bar

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
