"""Runs in the peers' own environment: one learner on one table, timed. Needs sklvq and pylmnn.

usage: python metric_peers.py TASK.npz ANSWER.npz
"""

import sys
import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import numpy as np


def gmlvq(X, y):
    learner = (
        import_module("sklvq")
        .GMLVQ(
            solver_type="lbfgs",
            activation_type="sigmoid",
            activation_params={"beta": 2},
            random_state=0,
        )
        .fit(X, y)
    )
    return {
        "omega": learner.omega_,
        "prototypes": learner.prototypes_,
        "labels": learner.classes_[learner.prototypes_labels_],
    }


def lmnn(X, y):
    # pylmnn wants GPyOpt, long abandoned, for a search of settings that is not used here.
    absent = SimpleNamespace(methods=None, BayesianOptimization=None)
    sys.modules["GPyOpt"] = sys.modules["GPyOpt.methods"] = cast(Any, absent)
    learner = import_module("pylmnn").LargeMarginNearestNeighbor(n_neighbors=3, random_state=0)
    return {"omega": learner.fit(X, y).components_}


task = np.load(sys.argv[1])
learn = {"gmlvq": gmlvq, "lmnn": lmnn}[str(task["learner"])]
learn(task["X"][::20], task["y"][::20])  # imports
seconds = []
for _ in range(int(task["repeats"])):
    start = time.perf_counter()
    found = learn(task["X"], task["y"])
    seconds.append(time.perf_counter() - start)
np.savez(sys.argv[2], seconds=min(seconds), **found)
