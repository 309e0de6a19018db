"""Measurements of the page on clusters: identity, crashes, overhead, memory, bytes and scaling.

All clusters run on this computer and use only the loopback address. With --data, the parts that use
gene tables are measured as well.

usage: python -m benchmarks.cluster [--part NAME ...] [--data FOLDER] [--images FOLDER]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from allrelevant import (
    EBRFE,
    SVMRFE,
    ClassificationBounds,
    SaliencySelector,
    config_context,
    stability,
)
from allrelevant.exceptions import WorkerDiedError
from allrelevant.parallel import parallel_imap, parallel_map, single_threaded

from .cluster_model import Job, Network, predict, resampled, simulate

Values = list[np.ndarray]

# Time per task of the scheduler, according to Dask, and of client and scheduler in one process,
# according to the part "memory".
SECONDS_PER_TASK = (0.0002, 0.001, 0.0034)


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
        ) as running,
        Client(running) as client,
    ):
        yield client


def load_leukemia(data: Path | None) -> tuple[np.ndarray, np.ndarray] | None:
    path = None if data is None else data / "leukemia_golub.npz"
    if path is None or not path.exists():
        return None
    arrays = np.load(path)
    return arrays["X"].astype(float), arrays["y"]


# Jobs


def fit_bounds(X: np.ndarray, y: np.ndarray) -> Values:
    fitted = ClassificationBounds(random_state=0).fit(X, y)
    return [fitted.interval_, fitted.get_support()]


def fit_stability(X: np.ndarray, y: np.ndarray, n_splits: int = 64) -> Values:
    found = stability(ClassificationBounds(), X, y, n_splits=n_splits, random_state=0)
    return [found.lower, found.upper, found.test_score]


def fit_nested_elimination(X: np.ndarray, y: np.ndarray) -> Values:
    fitted = EBRFE(n_candidates=3, cv=5, nested_cv=5, random_state=0).fit(X, y)
    return [fitted.ranking_, fitted.fold_scores_, fitted.held_out_score_.scores]


def fit_saliency(X: np.ndarray, y: np.ndarray) -> Values:
    fitted = SaliencySelector(SVC(kernel="linear"), cv=5, random_state=0).fit(X, y)
    return [fitted.ranking_, fitted.importances_, fitted.fold_scores_]


def same(one: Values, other: Values) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


# Parts of the page


def identity_part(data: Path | None, images: Path | None) -> None:
    """Compare results of one process, two local processes and clusters."""
    X, y = load_breast_cancer(return_X_y=True)
    jobs: dict[str, Callable[[], Values]] = {
        "stability over 64 splits, breast cancer": partial(fit_stability, X, y),
        "nested EBRFE, breast cancer": partial(fit_nested_elimination, X[:, :12], y),
        "SaliencySelector, breast cancer": partial(fit_saliency, X, y),
    }
    leukemia = load_leukemia(data)
    if leukemia is not None:
        jobs = {"bounds, leukemia (72 x 7,129)": partial(fit_bounds, *leukemia), **jobs}
    print("| Job | Cluster | Identical | One process | Cluster |\n| --- | --- | --- | --- | --- |")
    for name, job in jobs.items():
        serial, expected = timed(job)
        for n_workers in (3,) if "leukemia" in name or "64" in name else (1, 2, 3, 7):
            with cluster(n_workers) as client, config_context(executor=client):
                seconds, found = timed(job)
            identical = "yes" if same(found, expected) else "NO"
            row = (
                f"| {name} | {n_workers} workers | {identical} | {serial:.1f} s | {seconds:.1f} s |"
            )
            print(row, flush=True)


def kill_workers(client: Client, n_killed: int, delay: float) -> threading.Timer:
    """Kill workers with SIGKILL after a delay, in a thread."""
    processes = random.sample(list(client.run(os.getpid).values()), n_killed)

    def kill() -> None:
        for process in processes:
            os.kill(process, signal.SIGKILL)

    timer = threading.Timer(delay, kill)
    timer.start()
    return timer


def kills_part(data: Path | None, images: Path | None) -> None:
    """Kill one or two of three workers at random moments; compare the results."""
    random.seed(0)
    X, y = load_breast_cancer(return_X_y=True)
    job = partial(fit_stability, X[:200], y[:200], n_splits=12)
    _, expected = timed(job)
    with cluster(3) as client:
        with config_context(executor=client):
            undisturbed, _ = timed(job)
        for n_killed, n_runs in ((1, 20), (2, 5)):
            seconds, identical, during = [], 0, 0
            for _ in range(n_runs):
                client.wait_for_workers(3, timeout=120)
                killer = kill_workers(client, n_killed, random.uniform(0, undisturbed))
                with config_context(executor=client):
                    duration, found = timed(job)
                during += killer.finished.is_set()
                killer.join()
                seconds.append(duration)
                identical += same(found, expected)
            print(
                f"{n_killed} of 3 workers killed at a random moment ({during} times before the end "
                f"of the run): {identical} of {n_runs} runs identical; "
                f"{undisturbed:.1f} s undisturbed, {min(seconds):.1f} to {max(seconds):.1f} s with "
                "kills",
                flush=True,
            )
        client.wait_for_workers(3, timeout=120)
        with config_context(executor=client):
            start = time.perf_counter()
            try:
                parallel_map(die_at_one, range(20), describe=lambda item: f"the item {item}")
            except WorkerDiedError as error:
                print(
                    f"A task that always kills its worker: {time.perf_counter() - start:.1f} s, "
                    f"{len(error.results)} other results kept: {error}"
                )


def die_at_one(item: int) -> int:
    if item == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def overhead_part(data: Path | None, images: Path | None) -> None:
    """Compare a cluster of two workers with two local processes, in alternation."""
    X, y = load_breast_cancer(return_X_y=True)

    def run(n_jobs: int | None, n_splits: int = 48) -> np.ndarray:
        return stability(
            ClassificationBounds(), X, y, n_splits=n_splits, random_state=0, n_jobs=n_jobs
        ).upper

    ratios = []
    with cluster(2) as client:
        run(2, 4)  # imports
        with config_context(executor=client):
            run(None, 4)
        for _ in range(3):
            local, _ = timed(partial(run, 2))
            with config_context(executor=client):
                remote, _ = timed(partial(run, None))
            ratios.append(remote / local)
            print(f"{local:.1f} s local, {remote:.1f} s cluster: {ratios[-1]:.3f}", flush=True)
    print(
        f"Overhead, 48 splits, breast cancer: median ratio {np.median(ratios):.3f}; load "
        f"average {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    )


def memory_part(data: Path | None, images: Path | None) -> None:
    """Measure the memory of the client during 10,000 tasks, and the CPU time per task."""
    table, this, used, counts = np.ones(10**6), psutil.Process(), [], []
    with cluster(2) as client, config_context(executor=client):
        parallel_map(partial(small_result, table), range(200))
        cpu = sum(os.times()[:2])
        for number, _ in enumerate(parallel_imap(partial(small_result, table), range(10_000))):
            if number % 100 == 0:
                counts.append(number)
                used.append(this.memory_info().rss / 2**20)
        cpu = sum(os.times()[:2]) - cpu
    print(
        f"Client and scheduler, 10,000 tasks with results of 8 kB: {used[10]:.0f} MiB after 1,000 "
        f"tasks, {used[-1]:.0f} MiB at the end, largest {max(used):.0f} MiB; "
        f"{cpu / 10:.2f} s of CPU time per 1,000 tasks"
    )
    if images is not None:
        plot_memory(counts, used, images)


def small_result(table: np.ndarray, item: int) -> np.ndarray:
    return table[:1000] * item


def bytes_part(data: Path | None, images: Path | None) -> None:
    """Count the bytes moved for a table of 1 GB, two workers and 60 tasks in two runs.

    All connections use the loopback interface, so its counter includes every byte, also those that
    the scheduler passes on to the first worker.
    """
    table = np.random.default_rng(0).normal(size=(1000, 125_000))
    with cluster(2) as client, config_context(executor=client):
        for name, function in (("first", mean_of_column), ("second", max_of_column)):
            before = received_bytes()
            seconds, _ = timed(partial(parallel_map, partial(function, table), range(30)))
            moved = received_bytes() - before
            print(
                f"Table of {table.nbytes / 1e9:.2f} GB, two workers, {name} run of 30 tasks: "
                f"{moved / 1e9:.3f} GB moved, {seconds:.1f} s",
                flush=True,
            )
        copies = sum(client.run(stored_bytes).values())
    print(f"Data on the two workers: {copies / 1e9:.2f} GB")


def received_bytes() -> int:
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_recv)


def mean_of_column(table: np.ndarray, item: int) -> float:
    return float(table[:, item].mean())


def max_of_column(table: np.ndarray, item: int) -> float:
    return float(table[:, item].max())


def stored_bytes(dask_worker: Any) -> int:
    return sum(sys.getsizeof(value) for value in dask_worker.data.values())


def scaling_part(data: Path | None, images: Path | None) -> None:
    """Predict the speed-up of three jobs; compare the model with a simulation."""
    jobs = [stability_job()]
    leukemia = load_leukemia(data)
    if leukemia is not None:
        jobs.append(elimination_job(*leukemia))
    jobs.append(Job("100,000 tasks of 20 ms", np.full(100_000, 0.02), 1e6, 0.0))
    columns = " | ".join(f"Speed-up ({1000 * seconds:g} ms)" for seconds in SECONDS_PER_TASK)
    print(f"| Job | Task length | Workers | Model | Simulation | {columns} |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * len(SECONDS_PER_TASK))
    sizes = np.unique(np.geomspace(1, 1000, 25).round().astype(int))
    networks = [Network(seconds) for seconds in SECONDS_PER_TASK]
    largest_error = 0.0
    for job in jobs:
        for n_workers in (10, 100, 1000):
            times = [simulate(job, network, n_workers) for network in networks]
            speedups = " | ".join(f"{job.one_worker / seconds:.0f}" for seconds in times)
            print(
                f"| {job.name} | {job.lengths.mean():.2g} s | {n_workers:,} | "
                f"{predict(job, networks[0], n_workers):.1f} s | {times[0]:.1f} s | {speedups} |"
            )
        for network in networks:
            for n_workers in sizes:
                ratio = predict(job, network, n_workers) / simulate(job, network, n_workers)
                largest_error = max(largest_error, abs(ratio - 1))
    print(f"Largest relative error of the model, 1 to 1,000 workers: {largest_error:.1%}")
    if images is not None:
        plot_scaling(jobs, sizes, images)


def stability_job() -> Job:
    """Return a study of 1,000 splits, with task lengths in CPU time."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    lengths = [
        cpu_seconds(lambda rows: ClassificationBounds(random_state=0).fit(X[rows], y[rows]), rows)
        for rows in (rng.permutation(len(y))[: int(0.9 * len(y))] for _ in range(16))
    ]
    return Job("stability, 1,000 splits", resampled(lengths, 1000), X.nbytes, 0.1)


def elimination_job(X: np.ndarray, y: np.ndarray) -> Job:
    """Return a nested elimination with 10 x 10 folds, with task lengths in CPU time."""
    rng = np.random.default_rng(0)
    selector = SVMRFE(cv=None, n_features_to_select=20)
    lengths = [
        cpu_seconds(lambda rows: selector.fit(X[rows], y[rows]), rows)
        for rows in (rng.permutation(len(y))[: int(0.81 * len(y))] for _ in range(8))
    ]
    return Job("nested SVMRFE, leukemia, 10 x 10 folds", resampled(lengths, 121), X.nbytes, 0.1)


def cpu_seconds(function: Callable[[Any], Any], argument: Any) -> float:
    start = time.process_time()
    with single_threaded():
        function(argument)
    return time.process_time() - start


def plot_memory(counts: list[int], used: list[float], folder: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
    axes.plot(counts, used)
    axes.set(xlabel="finished tasks", ylabel="memory in MiB", ylim=(0, None))
    figure.savefig(folder / "cluster_memory.svg")


def plot_scaling(jobs: list[Job], sizes: np.ndarray, folder: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for color, job in enumerate(jobs):
        for per_task, style in zip(SECONDS_PER_TASK, ("-", "--", ":"), strict=True):
            network = Network(per_task)
            model = [job.one_worker / predict(job, network, n) for n in sizes]
            found = [job.one_worker / simulate(job, network, n) for n in sizes]
            label = f"{job.name}, {1000 * per_task:g} ms per task"
            axes.plot(sizes, model, style, color=f"C{color}", label=label)
            axes.plot(sizes, found, ".", color=f"C{color}")
    axes.plot(sizes, sizes, color="0.8", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="speed-up")
    axes.legend(fontsize="x-small")
    figure.savefig(folder / "cluster_scaling.svg")


PARTS = {
    "identity": identity_part,
    "kills": kills_part,
    "overhead": overhead_part,
    "memory": memory_part,
    "bytes": bytes_part,
    "scaling": scaling_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--data", type=Path, help="folder with leukemia_golub.npz")
    parser.add_argument("--images", type=Path, help="folder for the figures")
    args = parser.parse_args()
    for name in args.part:
        print(f"\n{name}", flush=True)
        PARTS[name](args.data, args.images)


if __name__ == "__main__":
    main()
