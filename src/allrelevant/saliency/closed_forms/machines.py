"""Kernel machines: outputs are sums of kernels with the support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._sklearn import kernel_factor
from ...arrays import Matrix, Table, Vector
from ...exceptions import InputError
from ..differentiable import DifferentiableModel
from ..gains import Gain
from .kernels import GaussianForm, KernelForm, PolynomialForm, SigmoidForm
from .linear import LinearForm
from .pairs import OneAgainstOne


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

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return self.linearized(X).pull_back(cotangent)

    def linearized(self, X: Table) -> ExpansionAt:
        """The machine at some rows: the kernel is needed once."""
        inner = X @ self.support.T
        argument = self.kernel.argument(
            inner.toarray() if sp.issparse(inner) else inner,
            _squared_lengths(X),
            _squared_lengths(self.support),
        )
        return ExpansionAt(self, X, argument, self.kernel.values(argument))


@dataclass(frozen=True)
class ExpansionAt:
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

    def pull_back(self, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        machine, X = self.machine, self.X
        slopes = machine.kernel.slopes(self.argument, self.values)
        slopes *= cotangent @ machine.coefficients
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
