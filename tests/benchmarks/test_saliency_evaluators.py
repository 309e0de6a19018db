"""Tests that incremental kernel matrices give the same accuracies as SVMs on the columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from benchmarks.saliency_evaluators import best, evaluate, subset_sizes
from benchmarks.saliency_sets import KERNELS, ChallengeSet


def make_challenge_set(name: str, sparse: bool) -> ChallengeSet:
    X, y = make_classification(160, 60, n_informative=8, random_state=3)
    X = np.where(np.abs(X) > 0.7, X, 0.0) if sparse else X
    X = X / X.std()
    kind = sp.csr_array if sparse else np.asarray
    return ChallengeSet(name, kind(X[:100]), y[:100], kind(X[100:]), y[100:])


# The number of libsvm steps is limited, as in the benchmark.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "sparse"), [("madelon", False), ("dorothea", True)])
def test_accuracies_equal_those_of_svms_on_the_columns(name: str, sparse: bool) -> None:
    data = make_challenge_set(name, sparse)
    order = np.random.default_rng(0).permutation(60)
    accuracies = evaluate(data, order)
    for kernel in KERNELS:
        for size, accuracy in accuracies[kernel][::7]:
            columns = order[:size]
            svm = data.svm(kernel).fit(data.X[:, columns], data.y)
            assert svm.score(data.X_test[:, columns], data.y_test) == accuracy, (kernel, size)


def test_only_requested_kernels_are_evaluated() -> None:
    data = make_challenge_set("madelon", sparse=False)
    order = np.arange(60)
    assert evaluate(data, order, ["sigmoid"]) == {"sigmoid": evaluate(data, order)["sigmoid"]}


def test_sizes_grow_by_two_percent_up_to_all_features() -> None:
    sizes = subset_sizes(10_000)
    assert sizes[:50] == list(range(1, 51))
    assert sizes[-1] == 10_000
    steps = np.diff(sizes)
    assert (steps >= 1).all()
    assert (steps[50:] <= np.array(sizes[50:-1]) * 0.021 + 1).all()
    assert subset_sizes(7) == list(range(1, 8))


def test_best_is_the_smallest_size_with_the_highest_accuracy() -> None:
    assert best([(1, 0.5), (2, 0.75), (3, 0.75)]) == (75.0, 2)
