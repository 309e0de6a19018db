"""Kernels as functions of inner products and squared lengths, and their derivatives.

Every kernel of scikit-learn's SVMs is one. The gradient of ``k(x, s)`` with respect to ``x`` is
then ``slope * (s + pull * x)``, with ``slope`` the derivative with respect to the inner product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...arrays import Matrix, Vector


class KernelForm(Protocol):
    """A kernel between rows and support vectors: some function of an argument."""

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """What the kernel is a function of, written over the inner products.

        Parameters
        ----------
        inner : ndarray of shape (n, m)
            Inner products of rows and support vectors.
        rows : ndarray of shape (n,)
            Squared lengths of the rows.
        support : ndarray of shape (m,)
            Squared lengths of the support vectors.
        """
        ...

    def values(self, argument: Matrix) -> Matrix:
        """The kernel."""
        ...

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Its derivative with respect to the inner product; a new array."""
        ...

    @property
    def pull(self) -> float:
        """The factor of ``x`` in the gradient, as a multiple of the slope."""
        ...


@dataclass(frozen=True)
class PolynomialForm:
    """``(gamma <x, s> + coef0) ** degree``."""

    gamma: float
    coef0: float
    degree: int
    pull: float = 0.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """What is raised to the power."""
        return _affine(inner, self.gamma, self.coef0)

    def values(self, argument: Matrix) -> Matrix:
        """The kernel."""
        return argument**self.degree

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Derivative with respect to the inner product."""
        if self.degree == 0:
            return np.zeros_like(argument)
        return self.degree * self.gamma * argument ** (self.degree - 1)


@dataclass(frozen=True)
class SigmoidForm:
    """``tanh(gamma <x, s> + coef0)``."""

    gamma: float
    coef0: float
    pull: float = 0.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """What the hyperbolic tangent is taken of."""
        return _affine(inner, self.gamma, self.coef0)

    def values(self, argument: Matrix) -> Matrix:
        """The kernel."""
        return np.tanh(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Derivative with respect to the inner product."""
        return self.gamma * (1.0 - values**2)


@dataclass(frozen=True)
class GaussianForm:
    """``exp(-gamma |x - s|^2)``."""

    gamma: float
    # |x - s|^2 falls by 2 with the inner product, and its gradient is 2 (x - s).
    pull: float = -1.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """The squared distance times minus gamma."""
        inner *= 2.0 * self.gamma
        inner -= self.gamma * rows[:, None]
        inner -= self.gamma * support[None, :]
        return np.minimum(inner, 0.0, out=inner)  # no distance is negative, but for rounding

    def values(self, argument: Matrix) -> Matrix:
        """The kernel."""
        return np.exp(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Derivative with respect to the inner product."""
        return 2.0 * self.gamma * values


def _affine(inner: Matrix, factor: float, shift: float) -> Matrix:
    inner *= factor
    inner += shift
    return inner
