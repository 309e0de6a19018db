"""Script that times sklvq or pylmnn on one table, for the environment of these packages.

usage: python metric_packages.py TASK.npz ANSWER.npz
"""

import sys
import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize


def gmlvq() -> Any:
    return import_module("sklvq").GMLVQ(
        solver_type="lbfgs",
        activation_type="sigmoid",
        activation_params={"beta": 2},
        random_state=0,
    )


def lmnn() -> Any:
    # pylmnn imports GPyOpt, which is no longer maintained, for a parameter search not used here.
    placeholder = SimpleNamespace(methods=None, BayesianOptimization=None)
    sys.modules["GPyOpt"] = sys.modules["GPyOpt.methods"] = cast(Any, placeholder)
    module: Any = import_module("pylmnn.lmnn")
    # pylmnn passes the initial value as a matrix, which SciPy no longer accepts.
    module.minimize = lambda x0, **options: minimize(x0=np.ravel(x0), **options)
    return module.LargeMarginNearestNeighbor(n_neighbors=3, random_state=0)


def get_learned(learner: Any) -> dict[str, np.ndarray]:
    if hasattr(learner, "components_"):
        return {"omega": learner.components_}
    labels = learner.classes_[learner.prototypes_labels_]
    return {"omega": learner.omega_, "prototypes": learner.prototypes_, "labels": labels}


task = np.load(sys.argv[1])
learner = {"gmlvq": gmlvq, "lmnn": lmnn}[str(task["learner"])]()
seconds = []
for _ in range(int(task["repeats"])):
    start = time.process_time()
    learner.fit(task["X"], task["y"])
    seconds.append(time.process_time() - start)
np.savez(sys.argv[2], seconds=min(seconds), **cast(dict[str, Any], get_learned(learner)))
