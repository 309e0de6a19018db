"""Gradients of scikit-learn's SVMs, in closed form.

The outputs of an SVM are sums of kernels with its support vectors (:class:`KernelExpansion`), or,
with a linear kernel, weighted sums. With more than two classes it decides between each two classes
and lets the decisions vote (:class:`OneVsOne`).

Each kernel of scikit-learn's SVMs is a function of inner products and squared lengths. Its gradient
with respect to ``x`` is ``slope * (s + row_factor * x)``, where ``slope`` is the derivative with
respect to the inner product of ``x`` and the support vector ``s``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from ..._sklearn import kernel_factor
from ..._typing import Matrix, Table, Vector
from ...exceptions import InputError
from ..differentiable import DifferentiableModel, Linearization, linearized, register
from ..gains import Gain, HingeGain, RegressionGain
from .sklearn_models import LinearForm


@register(SVC)
@register(NuSVC)
def _of_svc(fitted: Any) -> DifferentiableModel:
    """One output for each class."""
    n_classes = len(fitted.classes_)
    if n_classes == 2:
        sides = np.array([[-1.0], [1.0]])
        coefficients, offsets = sides @ _dense(fitted.dual_coef_), sides @ fitted.intercept_
        return _kernel_expansion(fitted, coefficients, offsets, HingeGain())
    coefficients = _pair_coefficients(_dense(fitted.dual_coef_), fitted.n_support_)
    pairs = _kernel_expansion(fitted, coefficients, np.asarray(fitted.intercept_), HingeGain())
    # scikit-learn breaks ties only with this shape of its decision function.
    break_ties = bool(fitted.break_ties) and fitted.decision_function_shape == "ovr"
    return OneVsOne(pairs, n_classes, break_ties)


@register(SVR)
@register(NuSVR)
def _of_svr(fitted: Any) -> DifferentiableModel:
    coefficients, offsets = _dense(fitted.dual_coef_), np.asarray(fitted.intercept_)
    return _kernel_expansion(fitted, coefficients, offsets, RegressionGain())


def _kernel_expansion(
    fitted: Any, coefficients: Matrix, offsets: Vector, gain: Gain
) -> DifferentiableModel:
    support = fitted.support_vectors_
    if fitted.kernel == "linear":
        return LinearForm(np.asarray(coefficients @ support), offsets, gain)
    if sp.issparse(support):
        support = sp.csr_array(support)
    return KernelExpansion(support, coefficients, offsets, _kernel(fitted), gain)


def _kernel(fitted: Any) -> KernelForm:
    if fitted.kernel == "poly":
        return PolynomialForm(kernel_factor(fitted), float(fitted.coef0), int(fitted.degree))
    if fitted.kernel == "sigmoid":
        return SigmoidForm(kernel_factor(fitted), float(fitted.coef0))
    if fitted.kernel == "rbf":
        return GaussianForm(kernel_factor(fitted))
    name = fitted.kernel if isinstance(fitted.kernel, str) else "of one's own"
    raise InputError(
        f"The gradient of the kernel {name!r} is not known: use 'linear', 'poly', 'rbf' or "
        "'sigmoid'."
    )


def _pair_coefficients(dual: Matrix, n_support: Any) -> Matrix:
    """Coefficient of each support vector in the decision of each pair of classes.

    libsvm keeps those of class i against a later class j in row j - 1, and those of class j
    against an earlier class i in row i.
    """
    ends = np.concatenate([[0], np.cumsum(n_support)])
    rows = []
    for first, second in combinations(range(len(n_support)), 2):
        row = np.zeros(dual.shape[1])
        for place, other in ((first, second - 1), (second, first)):
            of_class = slice(ends[place], ends[place + 1])
            row[of_class] = dual[other, of_class]
        rows.append(row)
    return np.array(rows)


def _dense(values: Any) -> Matrix:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def _squared_lengths(X: Table) -> Vector:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class KernelExpansion:
    """Outputs as sums over m support vectors; coefficients have shape (k, m)."""

    support: Table
    coefficients: Matrix
    offsets: Vector
    kernel: KernelForm
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        return self.linearized(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return self.linearized(X).vjp(output_gradient)

    def linearized(self, X: Table) -> LinearizedSVM:
        """The SVM at some rows; the kernel is computed once."""
        inner = _dense(X @ self.support.T)
        argument = self.kernel.argument(inner, _squared_lengths(X), _squared_lengths(self.support))
        return LinearizedSVM(self, X, argument, self.kernel.values(argument))


@dataclass(frozen=True)
class LinearizedSVM:
    """An SVM at some rows: the argument and the values of the kernel, both of shape (n, m)."""

    svm: KernelExpansion
    X: Table
    argument: Matrix
    values: Matrix

    @cached_property
    def outputs(self) -> Matrix:
        return self.values @ self.svm.coefficients.T + self.svm.offsets

    def vjp(self, output_gradient: Matrix) -> Matrix:
        svm, X = self.svm, self.X
        slopes = svm.kernel.slopes(self.argument, self.values)
        slopes *= output_gradient @ svm.coefficients
        gradient = np.asarray(slopes @ svm.support)
        if svm.kernel.row_factor:
            weights = svm.kernel.row_factor * slopes.sum(axis=1)
            weighted = X.multiply(weights[:, None]) if sp.issparse(X) else X * weights[:, None]
            gradient += _dense(weighted)
        return gradient


@dataclass(frozen=True)
class OneVsOne:
    """One output for each class: the mean of its decisions, each clipped to [-1, 1].

    Votes have no gradient. Without the clipping, one decision of any size could make up for another
    that is lost. The gradient passes as if nothing was clipped.

    ``pairs`` has one output for each pair of classes, in the order of ``combinations``, positive
    for the first. ``break_ties`` is the parameter of scikit-learn's SVMs: whether equal votes are
    settled by the sizes of the decisions, or by the order of the classes.
    """

    pairs: DifferentiableModel
    n_classes: int
    break_ties: bool = False

    @property
    def gain(self) -> Gain:
        return self.pairs.gain

    def outputs(self, X: Table) -> Matrix:
        return self.linearized(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return self.linearized(X).vjp(output_gradient)

    def linearized(self, X: Table) -> LinearizedVotes:
        return LinearizedVotes(linearized(self.pairs, X), _shares(self.n_classes), self.break_ties)


@dataclass(frozen=True)
class LinearizedVotes:
    """Decisions of pairs at some rows, as outputs of classes."""

    pairs: Linearization
    shares: Matrix
    break_ties: bool

    @property
    def outputs(self) -> Matrix:
        return np.clip(self.pairs.outputs, -1.0, 1.0) @ self.shares.T

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class that most decisions vote for: what the model predicts."""
        decisions = self.pairs.outputs
        # A decision of exactly zero is one for the second class, but where ties are broken.
        first = decisions >= 0 if self.break_ties else decisions > 0
        votes = np.where(first, 1.0, -1.0) @ self.shares.T
        if not self.break_ties:
            # Shares of votes are equal up to rounding where votes are.
            return votes.round(9).argmax(axis=1)
        n_others = len(self.shares) - 1
        sizes = decisions @ self.shares.T * n_others
        # One vote moves the mean by 2 / n_others; sizes never add up to a whole vote.
        return (votes * n_others / 2 + sizes / (3 * (np.abs(sizes) + 1))).argmax(axis=1)

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.pairs.vjp(output_gradient @ self.shares)


def _shares(n_classes: int) -> Matrix:
    """What the decision of each pair adds to each class."""
    pairs = list(combinations(range(n_classes), 2))
    shares = np.zeros((n_classes, len(pairs)))
    for place, (first, second) in enumerate(pairs):
        shares[first, place], shares[second, place] = 1.0, -1.0
    return shares / (n_classes - 1)


@dataclass(frozen=True)
class KernelForm(ABC):
    """A kernel between rows and support vectors: some function of an argument."""

    gamma: float
    coef0: float = 0.0

    # Factor of ``x`` in the gradient, as a multiple of the slope.
    row_factor: ClassVar[float] = 0.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """What the kernel is a function of; written over the inner products, shape (n, m).

        ``rows`` and ``support`` are the squared lengths of the rows and of the support vectors.
        """
        inner *= self.gamma
        inner += self.coef0
        return inner

    @abstractmethod
    def values(self, argument: Matrix) -> Matrix:
        """The kernel."""

    @abstractmethod
    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Its derivative with respect to the inner product; a new array."""


@dataclass(frozen=True)
class PolynomialForm(KernelForm):
    """``(gamma <x, s> + coef0) ** degree``."""

    degree: int = 3

    def values(self, argument: Matrix) -> Matrix:
        return argument**self.degree

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        if self.degree == 0:
            return np.zeros_like(argument)
        return self.degree * self.gamma * argument ** (self.degree - 1)


class SigmoidForm(KernelForm):
    """``tanh(gamma <x, s> + coef0)``."""

    def values(self, argument: Matrix) -> Matrix:
        return np.tanh(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        return self.gamma * (1.0 - values**2)


class GaussianForm(KernelForm):
    """``exp(-gamma |x - s|^2)``."""

    # |x - s|^2 falls by 2 with the inner product, and its gradient is 2 (x - s).
    row_factor = -1.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        inner *= 2.0 * self.gamma
        inner -= self.gamma * rows[:, None]
        inner -= self.gamma * support[None, :]
        return np.minimum(inner, 0.0, out=inner)  # no distance is negative, but for rounding

    def values(self, argument: Matrix) -> Matrix:
        return np.exp(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        return 2.0 * self.gamma * values
