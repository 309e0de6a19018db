"""Tests that every kernel name is implemented and that kernels equal those of scikit-learn."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from allrelevant._params import KernelName
from allrelevant.elimination.kernels import KERNELS
from allrelevant.exceptions import InputError
from tests.elimination.naive import naive_kernel


def test_every_name_has_a_kernel():
    assert tuple(KERNELS) == get_args(KernelName)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_equal_those_of_scikit_learn(kernel):
    X = np.random.RandomState(0).randn(70, 8)
    ours = KERNELS[kernel](0.2, 2, 0.7)
    expected = naive_kernel(kernel, X, 0.2, degree=2, coef0=0.7)
    np.testing.assert_allclose(ours.matrix(ours.base(X @ X.T), 8), expected, atol=1e-12)
    columns = np.sum([ours.base_term(column) for column in X.T], axis=0)
    np.testing.assert_allclose(ours.matrix(columns, 8), expected, atol=1e-12)


def test_overflow_of_a_polynomial_kernel_is_an_error():
    kernel = KERNELS["poly"](1e12, 20, 0.0)
    with pytest.raises(InputError, match="too large for floating-point numbers"):
        kernel.matrix(np.full((2, 2), 1e10), 3)
