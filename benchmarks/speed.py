"""Speed of the intervals: one run, one machine, the same constraints for all.

Beside fri 9.0.0, beside the papers' three cold programs a feature (scipy's HiGHS), and beside one
warm-started HiGHS model with two programs a feature. fri needs NumPy 1 and two packages that it
does not declare, so it gets an environment of its own, `.fri-env`, installed on first use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant.bounds.equivalence import FORMULATIONS, Slack, fit_baseline
from allrelevant.bounds.programs.classification import Samples, separate_budgets
from allrelevant.bounds.solver.highs_solver import HighsSolver
from allrelevant.bounds.solver.intervals import WeightRanges, weight_ranges
from allrelevant.datasets import make_linear_classification
from tests.bounds.naive import naive_separate

ROOT = Path(__file__).parent.parent
FRI_PYTHON = ROOT / ".fri-env" / "bin" / "python"
FRI_PACKAGES = ("fri==9.0.0", "importlib_metadata", "attrs")

C = 1.0
SLACK = Slack(delta=0.001, loss_slack=0.0, loss_tol=1e-6)

Timed = tuple[float, np.ndarray]


def install_fri() -> None:
    if FRI_PYTHON.exists():
        return
    print("Installing fri in .fri-env ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", FRI_PYTHON.parent.parent], check=True)
    subprocess.run([FRI_PYTHON, "-m", "pip", "install", "--quiet", *FRI_PACKAGES], check=True)


def tables() -> Iterator[tuple[str, Samples]]:
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer 569 x 30", standardised(X, y)
    for n, d in ((500, 100), (200, 300)):
        data = make_linear_classification(
            n, n_strong=5, n_weak=10, n_irrelevant=d - 15, flip=0.05, random_state=0
        )
        yield f"{n} x {d}, 5 strong, 10 weak", standardised(data.X, data.y)


def standardised(X: np.ndarray, y: np.ndarray) -> Samples:
    return Samples(
        (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0), np.ones(len(y))
    )


def best_of(repeats: int, run: Callable[[], np.ndarray]) -> Timed:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        interval = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), interval


def time_fri(samples: Samples, norm: float, loss: float) -> Timed:
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.npz", Path(folder) / "answer.json"
        np.savez(task, X=samples.X, y=samples.y, C=C, norm=norm, loss=loss, repeats=1)
        script = Path(__file__).parent / "fri_intervals.py"
        subprocess.run([FRI_PYTHON, script, task, answer], check=True, stderr=subprocess.DEVNULL)
        result = json.loads(answer.read_text())
    return result["seconds"], np.array(result["interval"])


def compare(name: str, samples: Samples, with_fri: bool) -> None:
    baseline = fit_baseline(FORMULATIONS["separate"], samples, C)
    norm, loss = SLACK.norm_limit(baseline), SLACK.loss_limit(baseline)

    def ours(**kwargs: object) -> WeightRanges:
        return weight_ranges(separate_budgets(samples, norm, loss, baseline), **kwargs)  # type: ignore[arg-type]

    effort = ours().effort  # compiles, too
    seconds, interval = best_of(3, lambda: ours().interval)
    rivals = {
        "one warm HiGHS model": best_of(1, lambda: ours(solver=HighsSolver).interval),
        "the papers' cold programs": best_of(
            1, lambda: naive_separate(samples.X, samples.y, samples.weight, norm, loss)
        ),
    }
    if with_fri:
        rivals["fri 9.0.0"] = time_fri(samples, norm, loss)
    print(f"\n### {name}\n\n| | seconds | ratio | largest difference |\n| --- | --- | --- | --- |")
    print(f"| allrelevant ({effort.pivots:,} pivots) | {seconds:.4f} | 1 | |")
    for rival, (rival_seconds, rival_interval) in rivals.items():
        difference = np.abs(interval - rival_interval).max()
        ratio = rival_seconds / seconds
        print(f"| {rival} | {rival_seconds:.2f} | {ratio:,.0f} | {difference:.0e} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-fri", action="store_true")
    with_fri = not parser.parse_args().without_fri
    if with_fri:
        install_fri()
    print(f"C = {C:g}, delta = {SLACK.delta:g}, intervals only, one process each; ours best of 3")
    for name, samples in tables():
        compare(name, samples, with_fri)


if __name__ == "__main__":
    main()
