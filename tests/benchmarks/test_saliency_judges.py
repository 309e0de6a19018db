"""SVMs on incrementally updated kernels equal SVMs on the selected columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from benchmarks.saliency_judges import best, judged, sizes_to_judge
from benchmarks.saliency_sets import KERNELS, ChallengeSet


def challenge(name: str, sparse: bool) -> ChallengeSet:
    X, y = make_classification(160, 60, n_informative=8, random_state=3)
    X = np.where(np.abs(X) > 0.7, X, 0.0) if sparse else X
    X = X / X.std()
    kind = sp.csr_array if sparse else np.asarray
    return ChallengeSet(name, kind(X[:100]), y[:100], kind(X[100:]), y[100:])


# libsvm is stopped early, as in the benchmark.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "sparse"), [("madelon", False), ("dorothea", True)])
def test_accuracy_equals_that_of_svms_on_the_columns(name: str, sparse: bool) -> None:
    data = challenge(name, sparse)
    order = np.random.default_rng(0).permutation(60)
    accuracies = judged(data, order)
    for kernel in KERNELS:
        for size, accuracy in accuracies[kernel][::7]:
            columns = order[:size]
            svc = data.machine(kernel).fit(data.X[:, columns], data.y)
            assert svc.score(data.X_test[:, columns], data.y_test) == accuracy, (kernel, size)


def test_kernels_can_be_restricted() -> None:
    data = challenge("madelon", sparse=False)
    order = np.arange(60)
    assert judged(data, order, ["sigmoid"]) == {"sigmoid": judged(data, order)["sigmoid"]}


def test_sizes_grow_by_at_most_two_percent() -> None:
    sizes = sizes_to_judge(10_000)
    assert sizes[:50] == list(range(1, 51))
    assert sizes[-1] == 10_000
    steps = np.diff(sizes)
    assert (steps >= 1).all()
    assert (steps[50:] <= np.array(sizes[50:-1]) * 0.021 + 1).all()
    assert sizes_to_judge(7) == list(range(1, 8))


def test_best_prefers_the_smallest_of_equally_accurate_subsets() -> None:
    assert best([(1, 0.5), (2, 0.75), (3, 0.75)]) == (75.0, 2)
