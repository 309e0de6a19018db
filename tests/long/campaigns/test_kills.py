"""60 runs that are killed and resumed: alone, with worker processes and on a cluster."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.elimination.killing import assert_same, model, run_and_kill, table

from .forked import report_failures

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")

# Runs that are killed at a random step, by number of runs.
N_ALONE, N_WORKERS, N_CLUSTER = 40, 14, 6

RUN = """
import sys
from tests.elimination.killing import model, table

def main():
    estimator = model(sys.argv[1]).set_params(n_jobs=2)
    if sys.argv[2] == "workers":
        estimator.fit(*table())
        return
    from distributed import Client, LocalCluster
    from allrelevant import config_context
    options = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": "CRITICAL"}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        with Client(cluster) as client, config_context(executor=client):
            estimator.fit(*table())

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def whole():
    return model().fit(*table())


def kill_group(script, path, where, seconds):
    """Start a run in a process group of its own, and kill the whole group after a time."""
    command = [sys.executable, str(script), str(path), where]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def is_same(path, whole):
    try:
        assert_same(model(path).fit(*table()), whole)
    except Exception as error:
        return repr(error)
    return None


def test_kills_at_random_steps(tmp_path, whole, capsys):
    failures = {}
    for seed in range(N_ALONE):
        path = tmp_path / f"{seed}.ckpt"
        run_and_kill(path, random.Random(seed).randint(1, 110))
        problem = is_same(path, whole)
        if problem is not None:
            failures[seed] = problem
    with capsys.disabled():
        message = report_failures("kills", N_ALONE, failures)
    assert not failures, message


@pytest.mark.parametrize(("where", "n_runs"), [("workers", N_WORKERS), ("cluster", N_CLUSTER)])
def test_kills_of_runs_with_workers(where, n_runs, tmp_path, whole, capsys):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    start = time.monotonic()
    kill_group(script, tmp_path / "whole.ckpt", where, 300)
    seconds = time.monotonic() - start
    failures = {}
    for seed in range(n_runs):
        path = tmp_path / f"{seed}.ckpt"
        kill_group(script, path, where, random.Random(seed).uniform(0.2, 1.0) * seconds)
        problem = is_same(path, whole)
        if problem is not None:
            failures[seed] = problem
    with capsys.disabled():
        message = report_failures(f"kills with {where}", n_runs, failures)
    assert not failures, message
