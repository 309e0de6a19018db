"""GMLVQ beside sklvq 0.1.2 and LMNN beside pylmnn 1.6.4: time, cost and accuracy, in one run.

Both learners of a pair get the same tables on one core, and seconds are those of the processor,
which other programs on the machine disturb least. What they learned is judged here by the same
code: GMLVQ's cost is the mean over the rows of the sigmoid (steepness 2) of the relative distance,
which is sklvq's objective over the number of rows. Seconds and cost are of a fit to the whole
table, standardised; accuracies are means over five stratified folds, standardised by their
training part. The peers need older versions, so they get an environment of their own,
`.metrics-env`, installed on first use.

usage: python -m benchmarks.metric_learners [--without-peers]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from allrelevant import GMLVQ, LMNN
from allrelevant.metric_learning.costs import GmlvqCost, squared_distances

ROOT = Path(__file__).parent.parent
PEER_PYTHON = ROOT / ".metrics-env" / "bin" / "python"
PEER_PACKAGES = (
    "scikit-learn==1.5.2",
    "numpy<2",
    "sklvq==0.1.2",
    "PyLMNN==1.6.4",
    "six",
)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

TABLES = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}

# What was learned: "omega", of GMLVQ "prototypes" and their "labels"; and "seconds".
Learned = dict[str, Any]
Learn = Callable[[np.ndarray, np.ndarray, int], Learned]


def install_peers() -> None:
    if PEER_PYTHON.exists():
        return
    print("Installing sklvq and pylmnn in .metrics-env ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", PEER_PYTHON.parent.parent], check=True)
    subprocess.run([PEER_PYTHON, "-m", "pip", "install", "--quiet", *PEER_PACKAGES], check=True)


def peer(learner: str) -> Learn:
    """The peer's learner, in its own environment; see ``metric_peers.py``."""

    def learn(X: np.ndarray, y: np.ndarray, repeats: int) -> Learned:
        with tempfile.TemporaryDirectory() as folder:
            task, answer = Path(folder) / "task.npz", Path(folder) / "answer.npz"
            np.savez(task, learner=learner, X=X, y=y, repeats=repeats)
            script = Path(__file__).parent / "metric_peers.py"
            subprocess.run(
                [PEER_PYTHON, "-W", "ignore", script, task, answer],
                check=True,
                env=os.environ | ONE_THREAD,
            )
            return dict(np.load(answer))

    return learn


def our_gmlvq(X: np.ndarray, y: np.ndarray, repeats: int) -> Learned:
    seconds, learner = timed(lambda: GMLVQ().fit(X, y), repeats)
    return {
        "seconds": seconds,
        "omega": learner.omega_,
        "prototypes": learner.prototypes_,
        "labels": learner.prototype_labels_,
    }


def our_lmnn(X: np.ndarray, y: np.ndarray, repeats: int) -> Learned:
    seconds, learner = timed(lambda: LMNN().fit(X, y), repeats)
    return {"seconds": seconds, "omega": learner.omega_}


def euclidean(X: np.ndarray, y: np.ndarray, repeats: int) -> Learned:
    return {"seconds": 0.0, "omega": np.eye(X.shape[1])}


def timed(fit: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        learner = fit()
        seconds.append(time.process_time() - start)
    return min(seconds), learner


def cost(learned: Learned, X: np.ndarray, y: np.ndarray) -> float:
    return GmlvqCost(X, y, learned["labels"], 2.0)(learned["prototypes"], learned["omega"])[0]


def nearest_prototype(learned: Learned, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> Any:
    omega = learned["omega"]
    distances = squared_distances(test @ omega.T, learned["prototypes"] @ omega.T)
    return learned["labels"][distances.argmin(axis=1)]


def three_neighbours(learned: Learned, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> Any:
    omega = learned["omega"]
    return KNeighborsClassifier(3).fit(X @ omega.T, y).predict(test @ omega.T)


def accuracy(learn: Learn, predict: Callable[..., Any], X: np.ndarray, y: np.ndarray) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    shares = []
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        known, new = scaler.transform(X[train]), scaler.transform(X[test])
        learned = learn(known, y[train], 1)
        shares.append(np.mean(predict(learned, known, y[train], new) == y[test]))
    return float(np.mean(shares))


def compare_gmlvq(learners: dict[str, Learn]) -> None:
    print("\n### GMLVQ, one prototype a class, full rank\n")
    print("| table | learner | CPU seconds | times ours | cost | accuracy, 5 folds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for table, load in TABLES.items():
        X, y = load(return_X_y=True)
        Z = StandardScaler().fit_transform(X)
        repeats, ours = (20 if len(X) < 1000 else 2), 0.0
        for name, learn in learners.items():
            learned = learn(Z, y, repeats)
            seconds = float(learned["seconds"])
            ours = ours or seconds
            print(
                f"| {table} | {name} | {seconds:.3f} | {seconds / ours:.1f} "
                f"| {cost(learned, Z, y):.6f} | {accuracy(learn, nearest_prototype, X, y):.3f} |",
                flush=True,
            )


def compare_lmnn(learners: dict[str, Learn]) -> None:
    print("\n### LMNN, three neighbours, full rank: digits\n")
    print("| learner | CPU seconds | times ours | 3-NN accuracy, 5 folds |")
    print("| --- | --- | --- | --- |")
    X, y = load_digits(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    ours = 0.0
    for name, learn in learners.items():
        seconds = float(learn(Z, y, 1)["seconds"])
        ours = ours or seconds
        print(
            f"| {name} | {seconds:.2f} | {seconds / ours:.1f} "
            f"| {accuracy(learn, three_neighbours, X, y):.4f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-peers", action="store_true")
    args = parser.parse_args()
    gmlvq: dict[str, Learn] = {"allrelevant": our_gmlvq}
    lmnn: dict[str, Learn] = {"allrelevant": our_lmnn}
    if not args.without_peers:
        install_peers()
        gmlvq["sklvq 0.1.2"] = peer("gmlvq")
        lmnn["pylmnn 1.6.4"] = peer("lmnn")
    lmnn["Euclidean distances"] = euclidean
    with threadpool_limits(1):  # one core for each
        compare_gmlvq(gmlvq)
        compare_lmnn(lmnn)


if __name__ == "__main__":
    main()
