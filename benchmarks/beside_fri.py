"""Speed of the intervals beside fri 9.0.0: one run, one machine, the same constraints.

fri needs NumPy 1 and two packages that it does not declare, so it gets an environment of its own,
`.fri-env`, which this installs on first use.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant.bounds.equivalence import FORMULATIONS, Slack, fit_baseline
from allrelevant.bounds.programs.classification import Samples
from allrelevant.bounds.solver.intervals import weight_ranges

ROOT = Path(__file__).parent.parent
FRI_PYTHON = ROOT / ".fri-env" / "bin" / "python"
FRI_PACKAGES = ("fri==9.0.0", "importlib_metadata", "attrs")

C = 1.0
SLACK = Slack(delta=0.001, loss_slack=0.0, loss_tol=1e-6)
REPEATS = 3


def install_fri() -> None:
    if FRI_PYTHON.exists():
        return
    print("Installing fri in .fri-env ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", FRI_PYTHON.parent.parent], check=True)
    subprocess.run([FRI_PYTHON, "-m", "pip", "install", "--quiet", *FRI_PACKAGES], check=True)


def breast_cancer() -> Samples:
    X, y = load_breast_cancer(return_X_y=True)
    return Samples((X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0, np.ones(len(y)))


def time_ours(samples: Samples, norm: float, loss: float) -> tuple[float, np.ndarray]:
    from allrelevant.bounds.programs.classification import separate_budgets

    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        interval = weight_ranges(separate_budgets(samples, norm, loss)).interval
        seconds.append(time.perf_counter() - start)
    return min(seconds), interval


def time_fri(samples: Samples, norm: float, loss: float) -> tuple[float, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.npz", Path(folder) / "answer.json"
        np.savez(task, X=samples.X, y=samples.y, C=C, norm=norm, loss=loss, repeats=REPEATS)
        script = Path(__file__).parent / "fri_intervals.py"
        subprocess.run([FRI_PYTHON, script, task, answer], check=True, stderr=subprocess.DEVNULL)
        result = json.loads(answer.read_text())
    return result["seconds"], np.array(result["interval"])


def main() -> None:
    install_fri()
    samples = breast_cancer()
    baseline = fit_baseline(FORMULATIONS["separate"], samples, C)
    norm, loss = SLACK.norm_limit(baseline), SLACK.loss_limit(baseline)
    ours, interval = time_ours(samples, norm, loss)
    fri, fri_interval = time_fri(samples, norm, loss)
    print(f"breast cancer 569 x 30, C = {C:g}, delta = {SLACK.delta:g}, intervals only")
    print(f"best of {REPEATS} runs, one process, no workers on either side\n")
    print("| | seconds |\n| --- | --- |")
    print(f"| fri 9.0.0 | {fri:.3f} |\n| allrelevant | {ours:.3f} |\n")
    print(f"ratio: {fri / ours:.1f}")
    print(f"largest difference of the intervals: {np.abs(interval - fri_interval).max():.1e}")


if __name__ == "__main__":
    main()
