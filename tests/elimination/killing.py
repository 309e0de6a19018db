"""Elimination runs in a separate process that can be killed at any step."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import make_classification

from allrelevant import EBRFE
from allrelevant.elimination.engine import Elimination


def table():
    return make_classification(60, 40, n_informative=4, flip_y=0.1, random_state=3)


def model(checkpoint: Path | None = None) -> EBRFE:
    return EBRFE(
        n_candidates=3,
        cv=3,
        C=(0.5, 4.0),
        kernel="rbf",
        nested_cv=2,
        random_state=0,
        checkpoint=checkpoint,
    )


def run_and_tell(path: str) -> None:
    """Run an elimination, and print a line at the start of every step."""
    step = Elimination._next

    def printing_step(self):
        print("step", flush=True)
        return step(self)

    Elimination._next = printing_step  # type: ignore[method-assign]
    model(Path(path)).fit(*table())


def run_and_kill(path: Path, n_steps: int) -> int:
    """Run an elimination in a new process until a given step, then kill it.

    Return the number of started steps.
    """
    code = f"from tests.elimination.killing import run_and_tell; run_and_tell({str(path)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    n_started = 0
    for _ in process.stdout:
        n_started += 1
        if n_started == n_steps:
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    return n_started


def assert_same(one: EBRFE, other: EBRFE) -> None:
    assert (one.ranking_ == other.ranking_).all()
    first, second = (fitted.history_.drop(columns="seconds") for fitted in (one, other))
    assert first.equals(second)
    assert (one.held_out_score_.scores == other.held_out_score_.scores).all()
