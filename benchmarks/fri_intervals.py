"""Runs in fri's own environment: the intervals of one task, timed. Needs fri 9.0.0.

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

task = np.load(sys.argv[1])
X, y, C = task["X"], task["y"], float(task["C"])
model = Classification_SVM(C=C).fit(X, y)
intervals = RelevanceBoundsIntervals(
    (X, y), Classification(C=C), model, np.random.RandomState(0), 20, n_jobs=1, verbose=0
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
