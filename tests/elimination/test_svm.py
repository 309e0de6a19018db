"""Tests of the SVM solver against libsvm: dual objective, decision function, several classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from allrelevant import SolverError
from allrelevant.elimination import svm as svm_module
from allrelevant.elimination.svm import (
    majority_vote,
    pairwise_svms,
    resolve_class_weight,
)
from tests.elimination.naive import naive_kernel


def table(n_samples=70, n_features=8, n_classes=2, seed=0):
    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=5,
        n_classes=n_classes,
        flip_y=0.2,
        random_state=seed,
    )
    return X, y


def solve(K, y, costs, class_weight=None, start=None, tol=1e-6):
    rows = np.arange(len(y))
    svms = pairwise_svms(rows, y, class_weight or resolve_class_weight(None, np.unique(y)), tol)
    return svms, *svms.solve(K, np.asarray(costs, dtype=float), start)


def dual_objective(K, side, b):
    return side @ b - 0.5 * b @ K @ b


def violation(K, side, b, C):
    """Return the largest violation of the SVM optimality conditions, defined as in libsvm."""
    f = side - K @ b
    lower, upper = C * np.minimum(side, 0), C * np.maximum(side, 0)
    return f[b < upper].max() - f[b > lower].min()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("n_features", [3, 8, 200])
def test_two_classes(kernel, n_features):
    X, y = table(n_features=max(n_features, 8))
    X = X[:, :n_features]
    K = np.ascontiguousarray(naive_kernel(kernel, X, 1.0 / n_features))
    svms, b, offsets = solve(K, y, [0.05, 1.0, 30.0])
    values = svms.decide(K, b, offsets, np.arange(len(y)))
    for index, C in enumerate((0.05, 1.0, 30.0)):
        reference = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
        libsvm_b = np.zeros(len(y))
        libsvm_b[reference.support_] = -reference.dual_coef_[0]
        best = dual_objective(K, svms.side, libsvm_b)
        assert dual_objective(K, svms.side, b[index]) >= best - 1e-6 * max(1, abs(best))
        assert abs(b[index].sum()) < 1e-12 * C * len(y)
        assert (np.abs(b[index]) <= C).all()
        assert violation(K, svms.side, b[index], C) < 1e-6
        # libsvm stores the kernel in single precision, which matters if it is almost singular.
        np.testing.assert_allclose(-values[index, 0], reference.decision_function(K), atol=5e-3)


def test_indefinite_kernel():
    X, y = table()
    K = np.ascontiguousarray(naive_kernel("sigmoid", X, 1 / 8))
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    svms, b, offsets = solve(K, y, [1.0])
    # There may be several local optima, so only the optimality conditions are checked.
    assert violation(K, svms.side, b[0], 1.0) < 1e-6
    assert np.isfinite(offsets).all()


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 2: 0.5}])
def test_more_classes(class_weight):
    X, y = table(n_samples=90, n_classes=4, seed=1)
    y[y == 3] = np.where(np.arange((y == 3).sum()) < 5, 3, 0)  # a rare class
    K = np.ascontiguousarray(naive_kernel("rbf", X, 1 / 8))
    weight = resolve_class_weight(class_weight, np.arange(4))
    svms, b, offsets = solve(K, y, [2.0], weight)
    values = svms.decide(K, b, offsets, np.arange(len(y)))[0]
    reference = SVC(
        kernel="precomputed",
        C=2.0,
        tol=1e-8,
        class_weight=class_weight,
        decision_function_shape="ovo",
    ).fit(K, y)
    np.testing.assert_allclose(values.T, reference.decision_function(K), atol=1e-4)
    assert (majority_vote(values, svms.pairs, 4) == reference.predict(K)).all()
    from allrelevant.elimination.scoring import one_vs_rest

    reference.decision_function_shape = "ovr"
    np.testing.assert_allclose(
        one_vs_rest(values, svms.pairs, 4), reference.decision_function(K), atol=1e-4
    )


def test_warm_start_leads_to_the_same_optimum():
    X, y = table(n_samples=100, seed=2)
    K = np.ascontiguousarray(naive_kernel("rbf", X, 1 / 8))
    svms, cold, offsets = solve(K, y, [1.0], tol=1e-9)
    near = np.ascontiguousarray(naive_kernel("rbf", X[:, 1:], 1 / 8))
    start = solve(near, y, [1.0])[1]
    _, warm, warm_offsets = solve(K, y, [1.0], start=start, tol=1e-9)
    rows = np.arange(len(y))
    np.testing.assert_allclose(
        svms.decide(K, cold, offsets, rows),
        svms.decide(K, warm, warm_offsets, rows),
        atol=1e-7,
    )


@pytest.mark.parametrize("seed", range(20))
def test_offset_does_not_depend_on_the_start(seed):
    """The offset of an SVM does not depend on the starting point of the solver.

    The loss of a single binary feature is often constant over a range of offsets.
    """
    rng = np.random.RandomState(seed)
    y = rng.randint(2, size=24)
    x = (rng.rand(24, 1) < 0.3 + 0.4 * y[:, None]).astype(float)
    K = np.ascontiguousarray(x @ x.T)
    svms, _, cold = solve(K, y, [0.5])
    other = np.ascontiguousarray(rng.randn(24, 3) @ rng.randn(3, 24))
    other = other @ other.T
    start = solve(other, y, [0.5])[1]
    _, b, warm = solve(K, y, [0.5], start=start)
    np.testing.assert_allclose(warm, cold, atol=1e-5)
    slack = np.maximum(0, 1 - svms.side * (K @ b[0] + warm[0, 0])).sum()
    shifts = np.linspace(-2, 2, 81)
    losses = [np.maximum(0, 1 - svms.side * (K @ b[0] + c)).sum() for c in shifts]
    assert slack <= min(losses) + 1e-5


def test_equal_rows_and_equal_columns():
    X, y = table(n_samples=40, seed=3)
    X, y = np.vstack([X, X]), np.r_[y, 1 - y]  # every row in both classes
    K = np.ascontiguousarray(X @ X.T)
    _, b, _ = solve(K, y, [1.0])
    w = X.T @ b[0]
    np.testing.assert_allclose(w, 0, atol=1e-6)


def test_iteration_limit_raises(monkeypatch):
    X, y = table()
    monkeypatch.setattr(svm_module, "MAX_ITERATIONS", 3)
    with pytest.raises(SolverError, match="Scale the features"):
        solve(np.ascontiguousarray(X @ X.T), y, [1.0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cw2", [1 / 5, 1 / 20, 1 / 25]),
        ("cw3", [3.2, 3.05, 3.04]),
        ("balanced", [10 / 3, 5 / 6, 2 / 3]),
    ],
)
def test_named_class_weights(name, expected):
    classes, counts = np.arange(3), np.array([5, 20, 25])
    weights = resolve_class_weight(name, classes)(classes, counts)
    np.testing.assert_allclose(weights, expected)
