"""Tests of the functions that call the core: threads, processes, signals, unusual arrays."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds
from allrelevant.native import kernel_criterion, pairs, simplex, svm
from allrelevant.native.library import load, pointer
from allrelevant.native.svm import SVMProblems
from tests.native.calls import malformed_calls, run_native


def three_classes(seed=0, n=60):
    """Return a kernel matrix and the one-vs-one problems of three classes."""
    rng = np.random.RandomState(seed)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + codes[:, None]
    pairs = [np.flatnonzero(codes != k) for k in range(3)]
    side = np.concatenate(
        [np.where(codes[p] == (k + 1) % 3, 1.0, -1.0) for k, p in enumerate(pairs)]
    )
    members, starts = np.concatenate(pairs), np.cumsum([0, *map(len, pairs)])
    return X @ X.T, SVMProblems(members, starts, side, np.ones(len(members)))


def solve(kernel, problems):
    costs = np.array([0.1, 1.0, 10.0])
    b = np.zeros((3, 2 * len(kernel)))
    offsets, iterations = problems.solve(
        kernel, costs, b, chain_costs=True, tol=1e-8, max_iterations=100_000
    )
    return b, offsets, iterations


def fit(C=1.0):
    X, y = load_breast_cancer(return_X_y=True)
    return ClassificationBounds(C=C, cutoff=0.1, random_state=0).fit(X[:150, :12], y[:150])


@pytest.mark.parametrize("work", [1.0, 1e4])
def test_resumed_calls_give_the_same_result(work, monkeypatch):
    """Python handles signals between calls, and the number of calls does not change the result."""
    whole, svms = fit(), solve(*three_classes())
    for module in (simplex, svm, kernel_criterion, pairs):
        monkeypatch.setattr(module, "WORK_PER_CALL", work)
    np.testing.assert_array_equal(fit().interval_, whole.interval_)
    for part, right in zip(solve(*three_classes()), svms, strict=True):
        np.testing.assert_array_equal(part, right)


def test_threads_give_the_results_of_one_thread():
    costs = [0.1, 0.3, 1.0, 3.0]
    expected = [fit(C).interval_ for C in costs]
    with ThreadPoolExecutor(2) as pool:
        for estimator, interval in zip(pool.map(fit, costs), expected, strict=True):
            np.testing.assert_array_equal(estimator.interval_, interval)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_give_the_same_result(method):
    expected, estimator = fit(), ClassificationBounds(C=1.0, cutoff=0.1, random_state=0)
    X, y = load_breast_cancer(return_X_y=True)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(estimator.fit, X[:150, :12], y[:150]).result(timeout=120)
    np.testing.assert_array_equal(found.interval_, expected.interval_)


def test_problems_can_be_pickled():
    kernel, problems = three_classes()
    copy = pickle.loads(pickle.dumps(problems))
    for found, expected in zip(solve(kernel, copy), solve(kernel, problems), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_inputs_may_be_read_only_or_in_fortran_order():
    kernel, problems = three_classes()
    expected = solve(kernel, problems)
    kernel = np.asfortranarray(kernel)
    kernel.flags.writeable = False
    np.testing.assert_array_equal(solve(kernel, problems)[0], expected[0])


@pytest.mark.parametrize("array", [np.zeros(3, dtype=np.float32), np.zeros((4, 4))[:, ::2]])
def test_pointers_require_contiguous_doubles(array):
    with pytest.raises(TypeError, match="C-contiguous array of float64 or int64"):
        pointer(array)


def test_decision_values_equal_those_of_numpy():
    kernel, problems = three_classes()
    b, offsets, _ = solve(kernel, problems)
    values = problems.decide(kernel, b, offsets, np.array([3, 1, 4]))
    members, starts, *_ = problems.__reduce__()[1]
    for p in range(3):
        part = slice(starts[p], starts[p + 1])
        expected = b[:, part] @ kernel[members[part]][:, [3, 1, 4]] + offsets[:, p, None]
        np.testing.assert_allclose(values[:, p], expected, atol=1e-10)


def test_malformed_calls_return():
    """Empty arrays, NaN and huge values end with a status, not with a crash or an endless loop."""
    for call in malformed_calls():
        status, _ = run_native(call, load())
        assert status in range(4), call.function


@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
def test_criteria_equal_those_of_numpy(scale):
    """Large scales need kernel values computed from distances; the series would be inaccurate."""
    rng = np.random.RandomState(0)
    columns, b = scale * rng.normal(size=(6, 41)), rng.normal(size=(41, 3))
    products, gamma, coef0 = b @ b.T, 0.2 / scale, 0.3

    def change(kernel_of, base, terms):
        return [
            0.5 * (products * (kernel_of(base) - kernel_of(base - term))).sum() for term in terms
        ]

    inner = np.array([np.outer(column, column) for column in columns])
    squares = np.array([np.square(column[:, None] - column) for column in columns])
    found = kernel_criterion.rbf_changes(columns, squares.sum(axis=0), products, gamma)
    expected = change(lambda d: np.exp(-gamma * d), squares.sum(axis=0), squares)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    found = kernel_criterion.polynomial_changes(
        columns, inner.sum(axis=0), products, gamma, coef0, 3
    )
    expected = change(lambda s: (gamma * s + coef0) ** 3, inner.sum(axis=0), inner)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    found = kernel_criterion.sigmoid_changes(columns, inner.sum(axis=0), products, gamma, coef0)
    expected = change(lambda s: np.tanh(gamma * s + coef0), inner.sum(axis=0), inner)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
