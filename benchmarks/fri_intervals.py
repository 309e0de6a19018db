"""Script that times the relevance intervals of fri 9.0.0, for the Python environment of fri.

usage: python fri_intervals.py TASK.npz ANSWER.json
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from fri.compute import RelevanceBoundsIntervals
from fri.model.classification import Classification, Classification_SVM
from fri.model.ordinal_regression import OrdinalRegression, OrdinalRegression_SVM
from fri.model.regression import Regression, Regression_SVR

KINDS = {
    "classification": (Classification, Classification_SVM),
    "regression": (Regression, Regression_SVR),
    "ordinal": (OrdinalRegression, OrdinalRegression_SVM),
}

task = np.load(sys.argv[1])
X, y = task["X"], task["y"]
parameters = {name: float(task[name]) for name in ("C", "epsilon") if name in task}
kind, baseline = KINDS[str(task["kind"]) if "kind" in task else "classification"]
model = baseline(**parameters).fit(X, y)
intervals = RelevanceBoundsIntervals(
    (X, y), kind(**parameters), model, np.random.RandomState(0), 20, n_jobs=1, verbose=0
)
intervals.init_constraints = {"loss": float(task["loss"]), "w_l1": float(task["norm"])}
seconds = []
for _ in range(int(task["repeats"])):
    start = time.perf_counter()
    interval = intervals.compute_relevance_bounds(range(X.shape[1]))
    seconds.append(time.perf_counter() - start)
answer = {
    "seconds": min(seconds),
    "interval": interval.tolist(),
    "programs": 3 * X.shape[1],
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}
Path(sys.argv[2]).write_text(json.dumps(answer))
