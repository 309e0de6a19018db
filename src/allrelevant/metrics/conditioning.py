"""Coordinates in which a metric is learned in few iterations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Matrix, Vector

# Variances smaller than this share of the largest are taken to be of this share. Directions of
# next to no variance are where a metric overfits; they are not to be made easy to reach.
_SMALLEST_SHARE = 1e-4


@dataclass(frozen=True)
class HalfWhitening:
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
    def of(cls, X: Matrix) -> HalfWhitening:
        """From centred rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        >>> HalfWhitening.of(X).rows(X).round(6).tolist()
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
