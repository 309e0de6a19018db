"""Script that selects features with knockpy and hidimstat, for their Python environment.

The answer has the selected features and the CPU seconds of each method.

usage: python inference_selection.py TABLE.npz ANSWER.npz SEED [METHOD]
"""

import sys
import time
from importlib import import_module
from typing import Any

import numpy as np


def knockoffs(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Select features with Gaussian knockoffs and the lasso statistic, the knockpy defaults."""
    np.random.seed(seed)  # noqa: NPY002 - knockpy uses the global generator
    selected = import_module("knockpy").KnockoffFilter("lasso", "gaussian").forward(X, y, fdr=0.2)
    return np.asarray(selected) > 0


def desparsified(X: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> np.ndarray:
    """Select features with the desparsified lasso and the Benjamini-Hochberg procedure.

    The p-values are two-sided already, so ``two_tailed_test``, which would halve the false
    discovery rate, is not needed.
    """
    model = import_module("hidimstat").DesparsifiedLasso(random_state=seed, **options)
    model.fit_importance(X, y.astype(float))
    return np.asarray(model.fdr_selection(fdr=0.05, two_tailed_test=False)) != 0


def desparsified_path(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Select features with the desparsified lasso and small nodewise penalties.

    Each penalty is 1 % of the largest useful one.

    The documentation describes this as the default, but hidimstat 0.4.0 uses these penalties only
    if ``preconfigure_model_x_path`` is None. Otherwise, each penalty is 1.
    """
    return desparsified(X, y, seed, preconfigure_model_x_path=None)


METHODS = {
    "knockpy, FDR 0.2": knockoffs,
    "hidimstat, BH 0.05": desparsified,
    "hidimstat with nodewise penalties, BH 0.05": desparsified_path,
}

table, answer, seed, *only = sys.argv[1:]
data = np.load(table)
methods = {name: METHODS[name] for name in only or METHODS}
# The first use of a package compiles and imports parts of it.
for select in () if only else methods.values():
    select(data["X"], data["y"], 0)
chosen, seconds = [], []
for select in methods.values():
    start = time.process_time()
    chosen.append(select(data["X"], data["y"], int(seed)))
    seconds.append(time.process_time() - start)
np.savez(answer, names=list(methods), chosen=chosen, seconds=seconds)
