"""Closed-form gradients of scikit-learn SVMs.

The outputs of an SVM are sums of kernel values with its support vectors
(:class:`KernelExpansion`). With a linear kernel, they are linear functions of the features. With
more than two classes, an SVM has one decision per pair of classes and predicts by majority vote
(:class:`OneVsOne`).

Each kernel is a function of inner products and squared norms. Its gradient with respect to ``x``
is ``slope * (s + row_factor * x)``, where ``slope`` is the derivative with respect to the inner
product of ``x`` and the support vector ``s``.
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

from ..._sklearn import fitted_gamma
from ..._typing import Matrix, Table, Vector
from ...exceptions import InputError
from ..differentiable import DifferentiableModel, Linearization, linearize, register
from ..gains import Gain, HingeGain, RegressionGain
from .sklearn_models import LinearForm


@register(SVC)
@register(NuSVC)
def _from_svc(fitted: Any) -> DifferentiableModel:
    """Return the closed form of a fitted SVC or NuSVC, with one output per class."""
    n_classes = len(fitted.classes_)
    if n_classes == 2:
        sides = np.array([[-1.0], [1.0]])
        coefficients, offsets = sides @ _dense(fitted.dual_coef_), sides @ fitted.intercept_
        return _kernel_expansion(fitted, coefficients, offsets, HingeGain())
    coefficients = _pair_coefficients(_dense(fitted.dual_coef_), fitted.n_support_)
    pairs = _kernel_expansion(fitted, coefficients, np.asarray(fitted.intercept_), HingeGain())
    # scikit-learn breaks ties only if decision_function_shape="ovr".
    break_ties = bool(fitted.break_ties) and fitted.decision_function_shape == "ovr"
    return OneVsOne(pairs, n_classes, break_ties)


@register(SVR)
@register(NuSVR)
def _from_svr(fitted: Any) -> DifferentiableModel:
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
        return PolynomialForm(fitted_gamma(fitted), float(fitted.coef0), int(fitted.degree))
    if fitted.kernel == "sigmoid":
        return SigmoidForm(fitted_gamma(fitted), float(fitted.coef0))
    if fitted.kernel == "rbf":
        return GaussianForm(fitted_gamma(fitted))
    name = repr(fitted.kernel) if isinstance(fitted.kernel, str) else "function"
    raise InputError(
        f"The gradient of the kernel {name} is not implemented. Use 'linear', 'poly', 'rbf' or "
        "'sigmoid'."
    )


def _pair_coefficients(dual: Matrix, n_support: Any) -> Matrix:
    """Return the coefficient of each support vector in the decision of each pair of classes.

    libsvm stores the coefficients of class i versus a later class j in row j - 1, and those of
    class j versus an earlier class i in row i.
    """
    ends = np.concatenate([[0], np.cumsum(n_support)])
    rows = []
    for first, second in combinations(range(len(n_support)), 2):
        row = np.zeros(dual.shape[1])
        for place, other in ((first, second - 1), (second, first)):
            class_slice = slice(ends[place], ends[place + 1])
            row[class_slice] = dual[other, class_slice]
        rows.append(row)
    return np.array(rows)


def _dense(values: Any) -> Matrix:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def _squared_norms(X: Table) -> Vector:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class KernelExpansion:
    """SVM with k outputs, given by m support vectors and coefficients of shape (k, m)."""

    support: Table
    coefficients: Matrix
    offsets: Vector
    kernel: KernelForm
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        return self.linearize(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return self.linearize(X).vjp(output_gradient)

    def linearize(self, X: Table) -> LinearizedSVM:
        """Linearize the SVM at given rows; the kernel is evaluated only once."""
        inner = _dense(X @ self.support.T)
        argument = self.kernel.argument(inner, _squared_norms(X), _squared_norms(self.support))
        return LinearizedSVM(self, X, argument, self.kernel.values(argument))


@dataclass(frozen=True)
class LinearizedSVM:
    """SVM linearized at n given rows; kernel arguments and values have shape (n, m)."""

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
    """One-vs-one SVM whose output for a class is the mean of its pairwise decisions.

    Votes have no gradient, so decision values replace them. Each decision is clipped to [-1, 1];
    otherwise one large decision value could compensate for a lost vote. Clipping is
    straight-through: the gradient ignores it.

    ``pairs`` has one output per pair of classes, in the order of ``combinations``. The output is
    positive for the first class. ``break_ties`` has the same meaning as in ``SVC``: ties are broken
    by the decision values if it is True, and by class order otherwise.
    """

    pairs: DifferentiableModel
    n_classes: int
    break_ties: bool = False

    @property
    def gain(self) -> Gain:
        return self.pairs.gain

    def outputs(self, X: Table) -> Matrix:
        return self.linearize(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        return self.linearize(X).vjp(output_gradient)

    def linearize(self, X: Table) -> LinearizedVotes:
        weights = _vote_weights(self.n_classes)
        return LinearizedVotes(linearize(self.pairs, X), weights, self.break_ties)


@dataclass(frozen=True)
class LinearizedVotes:
    """One-vs-one SVM linearized at given rows, with one output per class."""

    pairs: Linearization
    vote_weights: Matrix
    break_ties: bool

    @property
    def outputs(self) -> Matrix:
        return np.clip(self.pairs.outputs, -1.0, 1.0) @ self.vote_weights.T

    @property
    def codes(self) -> NDArray[np.int64]:
        """Predicted class codes: for each row, the class with the most votes."""
        decisions = self.pairs.outputs
        # A decision of exactly zero counts for the second class, unless break_ties is set.
        first = decisions >= 0 if self.break_ties else decisions > 0
        votes = np.where(first, 1.0, -1.0) @ self.vote_weights.T
        if not self.break_ties:
            # Equal numbers of votes may differ by rounding errors.
            return votes.round(9).argmax(axis=1)
        n_others = len(self.vote_weights) - 1
        confidence = decisions @ self.vote_weights.T * n_others
        # One vote changes the mean by 2 / n_others; the tie-breaking term is less than one vote.
        return (votes * n_others / 2 + confidence / (3 * (np.abs(confidence) + 1))).argmax(axis=1)

    def vjp(self, output_gradient: Matrix) -> Matrix:
        return self.pairs.vjp(output_gradient @ self.vote_weights)


def _vote_weights(n_classes: int) -> Matrix:
    """Return the weight of each pairwise decision in the output of each class."""
    pairs = list(combinations(range(n_classes), 2))
    weights = np.zeros((n_classes, len(pairs)))
    for place, (first, second) in enumerate(pairs):
        weights[first, place], weights[second, place] = 1.0, -1.0
    return weights / (n_classes - 1)


@dataclass(frozen=True)
class KernelForm(ABC):
    """Kernel function of rows and support vectors, expressed through one scalar argument."""

    gamma: float
    coef0: float = 0.0

    # Factor of ``x`` in the gradient, relative to the slope.
    row_factor: ClassVar[float] = 0.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        """Compute the kernel argument in place, overwriting the inner products; shape (n, m).

        ``rows`` and ``support`` are the squared norms of the rows and of the support vectors.
        """
        inner *= self.gamma
        inner += self.coef0
        return inner

    @abstractmethod
    def values(self, argument: Matrix) -> Matrix:
        """Return the kernel values for the given arguments."""

    @abstractmethod
    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        """Return the derivative of the kernel with respect to the inner product, as a new array."""


@dataclass(frozen=True)
class PolynomialForm(KernelForm):
    """Polynomial kernel, ``(gamma <x, s> + coef0) ** degree``."""

    degree: int = 3

    def values(self, argument: Matrix) -> Matrix:
        return argument**self.degree

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        if self.degree == 0:
            return np.zeros_like(argument)
        return self.degree * self.gamma * argument ** (self.degree - 1)


class SigmoidForm(KernelForm):
    """Sigmoid kernel, ``tanh(gamma <x, s> + coef0)``."""

    def values(self, argument: Matrix) -> Matrix:
        return np.tanh(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        return self.gamma * (1.0 - values**2)


class GaussianForm(KernelForm):
    """Gaussian (RBF) kernel, ``exp(-gamma |x - s|^2)``."""

    # The derivative of |x - s|^2 is -2 with respect to <x, s>, and 2 (x - s) with respect to x.
    row_factor = -1.0

    def argument(self, inner: Matrix, rows: Vector, support: Vector) -> Matrix:
        inner *= 2.0 * self.gamma
        inner -= self.gamma * rows[:, None]
        inner -= self.gamma * support[None, :]
        return np.minimum(inner, 0.0, out=inner)  # rounding can make distances negative

    def values(self, argument: Matrix) -> Matrix:
        return np.exp(argument)

    def slopes(self, argument: Matrix, values: Matrix) -> Matrix:
        return 2.0 * self.gamma * values
