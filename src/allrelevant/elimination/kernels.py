"""Kernels as functions of what can be down-dated: inner products, or squared distances.

Both are sums over features, so that of fewer features they are what is left after a subtraction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._typing import Matrix, Vector

if TYPE_CHECKING:
    from .active_features import FeatureMatrix


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel, and its settings as scikit-learn names them.

    Attributes
    ----------
    gamma : float or None
        None is one over the number of features.
    degree : int
    coef0 : float
    """

    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0

    # Whether a shift of all rows changes nothing.
    shift_invariant: ClassVar[bool] = False

    def base(self, columns: FeatureMatrix) -> Matrix:
        """What the kernel is a function of, from all columns: inner products."""
        return columns.products()

    def base_of(self, column: Vector) -> Matrix:
        """What one column adds to the base."""
        return np.outer(column, column)

    def gamma_for(self, n_features: int) -> float:
        """The factor in use with so many features."""
        return 1.0 / n_features if self.gamma is None else self.gamma

    @abstractmethod
    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """The kernel of all pairs of rows."""

    @abstractmethod
    def cost_changes(
        self, base: Matrix, columns: Matrix, coefficients: Matrix, n_features: int
    ) -> Vector:
        """How much ``b' K b / 2`` falls when each feature leaves, ``b`` and gamma as they are.

        Parameters
        ----------
        base : ndarray of shape (n_rows, n_rows)
        columns : ndarray of shape (n_columns, n_rows)
        coefficients : ndarray of shape (n_rows, n_pairs)
            The costs of all pairs of classes are added up.
        n_features : int

        Returns
        -------
        ndarray of shape (n_columns,)
        """


class LinearKernel(Kernel):
    """The inner product."""

    shift_invariant = True

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """The base itself."""
        return base

    def cost_changes(
        self, base: Matrix, columns: Matrix, coefficients: Matrix, n_features: int
    ) -> Vector:
        """Half the squared weight."""
        return 0.5 * np.square(columns @ coefficients).sum(axis=1)


class RBFKernel(Kernel):
    """``exp(-gamma |x - z|^2)``."""

    shift_invariant = True

    def base(self, columns: FeatureMatrix) -> Matrix:
        """Squared distances."""
        products = columns.products()
        norms = np.diagonal(products)
        distances = np.maximum(norms[:, None] + norms - 2.0 * products, 0.0)
        np.fill_diagonal(distances, 0.0)
        return distances

    def base_of(self, column: Vector) -> Matrix:
        """Squared differences."""
        return np.square(column[:, None] - column)

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """The kernel; what rounding leaves below zero counts as zero."""
        kernel = np.maximum(base, 0.0)
        kernel *= -self.gamma_for(n_features)
        return np.exp(kernel, out=kernel)

    def cost_changes(
        self, base: Matrix, columns: Matrix, coefficients: Matrix, n_features: int
    ) -> Vector:
        """Exact, from the distances as they are."""
        from ..native.kernel_criterion import rbf_changes

        products = coefficients @ coefficients.T
        return rbf_changes(columns, np.maximum(base, 0.0), products, self.gamma_for(n_features))


class PolynomialKernel(Kernel):
    """``(gamma x'z + coef0)^degree``."""

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """The kernel."""
        return (self.gamma_for(n_features) * base + self.coef0) ** self.degree

    def cost_changes(
        self, base: Matrix, columns: Matrix, coefficients: Matrix, n_features: int
    ) -> Vector:
        """Exact, from the products as they are."""
        from ..native.kernel_criterion import polynomial_changes

        gamma, products = self.gamma_for(n_features), coefficients @ coefficients.T
        return polynomial_changes(columns, base, products, gamma, self.coef0, self.degree)


class SigmoidKernel(Kernel):
    """``tanh(gamma x'z + coef0)``."""

    def matrix(self, base: Matrix, n_features: int) -> Matrix:
        """The kernel."""
        return np.tanh(self.gamma_for(n_features) * base + self.coef0)

    def cost_changes(
        self, base: Matrix, columns: Matrix, coefficients: Matrix, n_features: int
    ) -> Vector:
        """Exact, from the products as they are."""
        from ..native.kernel_criterion import sigmoid_changes

        gamma, products = self.gamma_for(n_features), coefficients @ coefficients.T
        return sigmoid_changes(columns, base, products, gamma, self.coef0)


KERNELS: dict[str, type[Kernel]] = {
    "linear": LinearKernel,
    "rbf": RBFKernel,
    "poly": PolynomialKernel,
    "sigmoid": SigmoidKernel,
}
