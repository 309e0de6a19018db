"""GMLVQ compared with sklvq 0.1.2, and LMNN with pylmnn 1.6.4: time, cost and accuracy.

All packages use the same tables and one core. Times are CPU times, which depend little on other
work on the computer. The cost of GMLVQ is the mean over the rows of the sigmoid (steepness 2) of
the relative distance, that is, the objective of sklvq divided by the number of rows. It is computed
by the same code for both packages.

Time and cost refer to the whole standardized table. Accuracy is the mean over five stratified
folds, standardized by the training rows of each fold. The other packages require older versions of
their dependencies, so they are installed in a separate environment, `.metrics-env`, on first use.

usage: python -m benchmarks.metric_learners [--without-others]
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
OTHER_PYTHON = ROOT / ".metrics-env" / "bin" / "python"
OTHER_PACKAGES = (
    "scikit-learn==1.5.2",
    "numpy<2",
    "sklvq==0.1.2",
    "PyLMNN==1.6.4",
    "six",
)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

TABLES = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}

# Learned mapping "omega" and time "seconds"; for GMLVQ also "prototypes" and their "labels".
Learned = dict[str, Any]
Learn = Callable[[np.ndarray, np.ndarray, int], Learned]


def install_others() -> None:
    if OTHER_PYTHON.exists():
        return
    print("Installing sklvq and pylmnn in .metrics-env ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", OTHER_PYTHON.parent.parent], check=True)
    subprocess.run([OTHER_PYTHON, "-m", "pip", "install", "--quiet", *OTHER_PACKAGES], check=True)


def run_other(learner: str) -> Learn:
    """Return a function that trains a metric with another package.

    It runs ``metric_packages.py``.
    """

    def learn(X: np.ndarray, y: np.ndarray, repeats: int) -> Learned:
        with tempfile.TemporaryDirectory() as folder:
            task, answer = Path(folder) / "task.npz", Path(folder) / "answer.npz"
            np.savez(task, learner=learner, X=X, y=y, repeats=repeats)
            script = Path(__file__).parent / "metric_packages.py"
            subprocess.run(
                [OTHER_PYTHON, "-W", "ignore", script, task, answer],
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


def three_neighbors(learned: Learned, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> Any:
    omega = learned["omega"]
    return KNeighborsClassifier(3).fit(X @ omega.T, y).predict(test @ omega.T)


def accuracy(learn: Learn, predict: Callable[..., Any], X: np.ndarray, y: np.ndarray) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracies = []
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
        learned = learn(X_train, y[train], 1)
        accuracies.append(np.mean(predict(learned, X_train, y[train], X_test) == y[test]))
    return float(np.mean(accuracies))


def compare_gmlvq(learners: dict[str, Learn]) -> None:
    print("\n### GMLVQ, one prototype per class, full rank\n")
    print("| Data | Package | CPU seconds | Ratio | Cost | Accuracy, 5 folds |")
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
    print("\n### LMNN, three neighbors, full rank, digits\n")
    print("| Package | CPU seconds | Ratio | 3-NN accuracy, 5 folds |")
    print("| --- | --- | --- | --- |")
    X, y = load_digits(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    ours = 0.0
    for name, learn in learners.items():
        seconds = float(learn(Z, y, 1)["seconds"])
        ours = ours or seconds
        times = f" {seconds:.2f} | {seconds / ours:.1f} " if seconds else " | "
        print(
            f"| {name} |{times}| {accuracy(learn, three_neighbors, X, y):.4f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--without-others", action="store_true", help="skip sklvq and pylmnn, do not install them"
    )
    args = parser.parse_args()
    gmlvq: dict[str, Learn] = {"allrelevant": our_gmlvq}
    lmnn: dict[str, Learn] = {"allrelevant": our_lmnn}
    if not args.without_others:
        install_others()
        gmlvq["sklvq 0.1.2"] = run_other("gmlvq")
        lmnn["pylmnn 1.6.4"] = run_other("lmnn")
    lmnn["Euclidean distances"] = euclidean
    with threadpool_limits(1):  # one core
        compare_gmlvq(gmlvq)
        compare_lmnn(lmnn)


if __name__ == "__main__":
    main()
