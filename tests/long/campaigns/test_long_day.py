"""2,000 fits of different tasks in one process: memory and file descriptors do not grow."""

import gc
import os
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from allrelevant import (
    SVMRFE,
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    SaliencySelector,
    SurvivalBounds,
)
from allrelevant.datasets import make_linear_classification, make_survival

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self"), reason="requires /proc")  # noqa: PTH110

N_FITS = 2000

# Allowed growth between the first tenth and the end.
MAX_MEGABYTES = 40
MAX_DESCRIPTORS = 3


def usage():
    """Return the resident memory in megabytes, and the number of open file descriptors."""
    gc.collect()
    with open("/proc/self/statm") as file:  # noqa: PTH123
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def fits():
    """Return functions that fit each kind of estimator to a new table."""
    fast: dict[str, Any] = {"C": 10.0, "cutoff": "probes", "n_probes": 5}

    def table(seed):
        data = make_linear_classification(
            40, n_strong=1, n_weak=2, n_irrelevant=3, flip=0.1, random_state=seed
        )
        return data.X, data.y

    def survival(seed):
        data = make_survival(40, random_state=seed)
        return data.X, data.y

    def fit(estimator, X, y):
        return estimator.fit(X, y)

    return [
        lambda seed: fit(ClassificationBounds(**fast, random_state=seed), *table(seed)),
        lambda seed: fit(ClassificationBounds(random_state=seed), *table(seed)),
        lambda seed: fit(
            RegressionBounds(**fast, epsilon=0.1, random_state=seed),
            table(seed)[0],
            table(seed)[0][:, 0],
        ),
        lambda seed: fit(
            OrdinalBounds(**fast, random_state=seed),
            table(seed)[0],
            np.digitize(table(seed)[0][:, 0], [-0.5, 0.5]),
        ),
        lambda seed: fit(RankingBounds(**fast, random_state=seed), *table(seed)),
        lambda seed: fit(SurvivalBounds(**fast, random_state=seed), *survival(seed)),
        lambda seed: fit(SVMRFE(random_state=seed), *table(seed)),
        lambda seed: fit(SaliencySelector(SVC(), n_features_to_select=2), *table(seed)),
    ]


def test_memory_and_descriptors_stay_flat(capsys):
    makers, history = fits(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(N_FITS):
            makers[number % len(makers)](number)
            if (number + 1) % (N_FITS // 10) == 0:
                history.append(usage())
    with capsys.disabled():
        print("\nfits: megabytes, file descriptors")
        for tenth, (megabytes, descriptors) in enumerate(history, start=1):
            print(f"{tenth * N_FITS // 10}: {megabytes:.0f}, {descriptors}")
    assert history[-1][0] - history[0][0] < MAX_MEGABYTES
    assert history[-1][1] - history[0][1] <= MAX_DESCRIPTORS
