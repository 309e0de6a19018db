"""Kernels as functions of inner products and squared lengths, and their derivatives.

Every kernel of scikit-learn's SVMs is one. The gradient of ``k(x, s)`` with respect to ``x`` is
then ``slope * (s + pull * x)``, with ``slope`` the derivative with respect to the inner product.

Classifiers that decide between each two classes, and let the decisions vote.

Kernel machines: outputs are sums of kernels with the support vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Protocol

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


@dataclass(frozen=True)
class OneAgainstOne:
    """One output a class: the mean of its decisions against the others, each clipped to [-1, 1].

    Votes have no gradient. Without the clipping a decision between two other classes, of any size,
    could make up for one that is lost; the gradient passes as if there were none.

    Attributes
    ----------
    pairs : DifferentiableModel
        One output for each pair of classes, in the order of ``combinations``; positive for the
        first.
    n_classes : int
    break_ties : bool
        Whether equal votes are settled by the sizes of the decisions, or else by the order of the
        classes: as the model was told.
    """

    pairs: DifferentiableModel
    n_classes: int
    break_ties: bool = False

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss."""
        return self.pairs.gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return self.linearized(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Gradient of ``sum(output_gradient * outputs)``, without the clipping."""
        return self.linearized(X).vjp(output_gradient)

    def linearized(self, X: Table) -> LinearizedVotes:
        """The model at some rows."""
        return LinearizedVotes(linearized(self.pairs, X), _shares(self.n_classes), self.break_ties)


@dataclass(frozen=True)
class LinearizedVotes:
    """Decisions of pairs at some rows, as outputs of classes."""

    pairs: Linearization
    shares: Matrix
    break_ties: bool

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row."""
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
        """Gradient of ``sum(output_gradient * outputs)``."""
        return self.pairs.vjp(output_gradient @ self.shares)


def _shares(n_classes: int) -> Matrix:
    """What the decision of each pair adds to each class."""
    pairs = list(combinations(range(n_classes), 2))
    shares = np.zeros((n_classes, len(pairs)))
    for place, (first, second) in enumerate(pairs):
        shares[first, place], shares[second, place] = 1.0, -1.0
    return shares / (n_classes - 1)


@dataclass(frozen=True)
class KernelExpansion:
    """Outputs as sums over support vectors.

    Attributes
    ----------
    support : ndarray or csr_array of shape (m, d)
    coefficients : ndarray of shape (k, m)
    offsets : ndarray of shape (k,)
    kernel : KernelForm
    gain : Gain
    """

    support: Table
    coefficients: Matrix
    offsets: Vector
    kernel: KernelForm
    gain: Gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return self.linearized(X).outputs

    def vjp(self, X: Table, output_gradient: Matrix) -> Matrix:
        """Gradient of ``sum(output_gradient * outputs)``."""
        return self.linearized(X).vjp(output_gradient)

    def linearized(self, X: Table) -> LinearizedSVM:
        """The machine at some rows: the kernel is needed once."""
        inner = X @ self.support.T
        argument = self.kernel.argument(
            inner.toarray() if sp.issparse(inner) else inner,
            _squared_lengths(X),
            _squared_lengths(self.support),
        )
        return LinearizedSVM(self, X, argument, self.kernel.values(argument))


@dataclass(frozen=True)
class LinearizedSVM:
    """A machine at some rows.

    Attributes
    ----------
    machine : KernelExpansion
    X : ndarray or csr_array of shape (n, d)
    argument : ndarray of shape (n, m)
        What the kernel is a function of.
    values : ndarray of shape (n, m)
        The kernel.
    """

    machine: KernelExpansion
    X: Table
    argument: Matrix
    values: Matrix

    @cached_property
    def outputs(self) -> Matrix:
        """Outputs of each row."""
        return self.values @ self.machine.coefficients.T + self.machine.offsets

    def vjp(self, output_gradient: Matrix) -> Matrix:
        """Gradient of ``sum(output_gradient * outputs)``."""
        machine, X = self.machine, self.X
        slopes = machine.kernel.slopes(self.argument, self.values)
        slopes *= output_gradient @ machine.coefficients
        gradient = np.asarray(slopes @ machine.support)
        if machine.kernel.pull:
            weights = machine.kernel.pull * slopes.sum(axis=1)
            own = X.multiply(weights[:, None]) if sp.issparse(X) else X * weights[:, None]
            gradient += own.toarray() if sp.issparse(own) else own
        return gradient


def classifier_form(fitted: Any, gain: Gain) -> DifferentiableModel:
    """Of a fitted SVC or NuSVC: one output a class."""
    n_classes = len(fitted.classes_)
    if n_classes == 2:
        sides = np.array([[-1.0], [1.0]])
        return _form(fitted, sides @ _dense(fitted.dual_coef_), sides @ fitted.intercept_, gain)
    coefficients = _pair_coefficients(_dense(fitted.dual_coef_), fitted.n_support_)
    pairs = _form(fitted, coefficients, np.asarray(fitted.intercept_), gain)
    return OneAgainstOne(pairs, n_classes, _breaks_ties(fitted))


def regression_form(fitted: Any, gain: Gain) -> DifferentiableModel:
    """Of a fitted SVR or NuSVR."""
    return _form(fitted, _dense(fitted.dual_coef_), np.asarray(fitted.intercept_), gain)


def _form(fitted: Any, coefficients: Matrix, offsets: Vector, gain: Gain) -> DifferentiableModel:
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


def _breaks_ties(fitted: Any) -> bool:
    """scikit-learn counts votes another way then, and only with this shape."""
    return bool(fitted.break_ties) and fitted.decision_function_shape == "ovr"


def _dense(values: Any) -> Matrix:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def _squared_lengths(X: Table) -> Vector:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


@register(SVC)
@register(NuSVC)
def _of_svc(fitted: Any) -> DifferentiableModel:
    return classifier_form(fitted, HingeGain())


@register(SVR)
@register(NuSVR)
def _of_svr(fitted: Any) -> DifferentiableModel:
    return regression_form(fitted, RegressionGain())
