"""SVM kernels as functions of inner products or squared distances, summed over features.

The base matrix contains these sums for all pairs of rows. To remove features, their contribution is
subtracted from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._params import KernelName
from .._typing import Matrix, Vector
from ..exceptions import InputError


@dataclass(frozen=True)
class Kernel(ABC):
    """Base class of kernels, whose parameters are named as in scikit-learn.

    ``gamma=None`` means one over the number of features.
    """

    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0

    # Whether shifting all rows leaves the SVM solution unchanged.
    shift_invariant: ClassVar[bool] = False

    def base(self, products: Matrix) -> Matrix:
        """Convert the inner products of all pairs of rows to the base matrix."""
        return products

    def base_term(self, column: Vector) -> Matrix:
        """Return the contribution of one feature to the base matrix."""
        return np.outer(column, column)

    def gamma_for(self, n_features: int) -> float:
        """Return the kernel parameter gamma for a given number of features."""
        return 1.0 / n_features if self.gamma is None else self.gamma

    @abstractmethod
    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """Compute the kernel matrix of all rows from the base matrix."""

    @abstractmethod
    def cost_changes(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> Vector:
        """Compute how much the removal of each feature decreases half the squared weight norm.

        For kernel matrix K, this norm is ``b' K b``. The coefficients ``b`` and gamma are held
        fixed. ``base``, ``columns`` of shape (n_columns, n_rows) and ``b`` of shape (n_rows,
        n_pairs) refer to the same rows. The result is summed over all pairs of classes.
        """

    def joint_cost_change(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> float:
        """Compute the change of :meth:`cost_changes` if all given columns are removed together."""
        without = base - self.base(columns.T @ columns)
        change = self.matrix(base, n_features) - self.matrix(without, n_features)
        return 0.5 * float(np.sum((b @ b.T) * change))


class LinearKernel(Kernel):
    """Linear kernel, ``x'z``."""

    shift_invariant = True

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        return base

    def cost_changes(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> Vector:
        return 0.5 * np.square(columns @ b).sum(axis=1)


class RBFKernel(Kernel):
    """RBF kernel, ``exp(-gamma |x - z|^2)``; the base matrix contains squared distances."""

    shift_invariant = True

    def base(self, products: Matrix) -> Matrix:
        norms = np.diagonal(products)
        distances = np.maximum(norms[:, None] + norms - 2.0 * products, 0.0)
        np.fill_diagonal(distances, 0.0)
        return distances

    def base_term(self, column: Vector) -> Matrix:
        return np.square(column[:, None] - column)

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """Compute the kernel matrix; squared distances made negative by rounding count as zero."""
        kernel = np.maximum(base, 0.0)
        kernel *= -self.gamma_for(n_features)
        return np.exp(kernel, out=kernel)

    def cost_changes(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> Vector:
        from ..native.kernel_criterion import rbf_changes

        return rbf_changes(columns, np.maximum(base, 0.0), b @ b.T, self.gamma_for(n_features))


class PolynomialKernel(Kernel):
    """Polynomial kernel, ``(gamma x'z + coef0)^degree``."""

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        with np.errstate(over="ignore"):
            kernel: Matrix = (self.gamma_for(n_features) * base + self.coef0) ** self.degree
        if not np.isfinite(kernel).all():
            raise InputError(
                "The values of the polynomial kernel are too large for floating-point numbers. "
                "Use a smaller degree, gamma or coef0, or set standardize=True."
            )
        return kernel

    def cost_changes(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> Vector:
        from ..native.kernel_criterion import polynomial_changes

        gamma = self.gamma_for(n_features)
        return polynomial_changes(columns, base, b @ b.T, gamma, self.coef0, self.degree)


class SigmoidKernel(Kernel):
    """Sigmoid kernel, ``tanh(gamma x'z + coef0)``."""

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        return np.tanh(self.gamma_for(n_features) * base + self.coef0)

    def cost_changes(self, base: Matrix, columns: Matrix, b: Matrix, n_features: int) -> Vector:
        from ..native.kernel_criterion import sigmoid_changes

        return sigmoid_changes(columns, base, b @ b.T, self.gamma_for(n_features), self.coef0)


KERNELS: dict[KernelName, type[Kernel]] = {
    "linear": LinearKernel,
    "rbf": RBFKernel,
    "poly": PolynomialKernel,
    "sigmoid": SigmoidKernel,
}
