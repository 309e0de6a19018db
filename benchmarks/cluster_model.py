"""Cost model of a parallel run on a cluster, and a simulation that checks it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Job:
    """A parallel run: lengths of its tasks in seconds, bytes of its data, and serial seconds."""

    name: str
    lengths: np.ndarray
    n_bytes: float
    serial: float

    @property
    def one_worker(self) -> float:
        return self.serial + float(self.lengths.sum())


@dataclass(frozen=True)
class Network:
    """Costs of a cluster: the scheduler's seconds per task, and bytes per second of a link."""

    per_task: float
    bandwidth: float = 1e8


def predict(job: Job, network: Network, n_workers: int) -> float:
    """Return the predicted duration of a job.

    The data reach all workers in rounds, and the number of copies doubles in each. Then, either the
    workers or the scheduler limit the rate of tasks. At the end, workers wait for the last task. On
    average, this takes half a task longer than a perfect division of the work. If there are fewer
    tasks than workers, the longest task decides.
    """
    n_tasks = len(job.lengths)
    n_used = min(n_workers, n_tasks)
    rounds = 1 + np.ceil(np.log2(n_used))
    sending = rounds * job.n_bytes / network.bandwidth
    scheduling = n_tasks * network.per_task
    longest = float(job.lengths.max())
    working = float(job.lengths.sum()) / n_used
    if n_tasks > n_used:
        working += float(job.lengths.mean()) / 2 * (1 - 1 / n_used)
    return job.serial + sending + max(scheduling + longest, working, longest)


def simulate(job: Job, network: Network, n_workers: int) -> float:
    """Return the duration of a job in a simulation that starts every task separately.

    A worker gets the data from a worker that has them. Tasks are sent when all workers have the
    data. The scheduler handles them one after the other, and gives each to the first free worker.
    """
    n_used = min(n_workers, len(job.lengths))
    transfer = job.n_bytes / network.bandwidth
    arrivals = [transfer]  # from this process to the first worker
    senders = [transfer]
    while len(arrivals) < n_used:
        start = heapq.heappop(senders)
        arrivals.append(start + transfer)
        for _ in range(2):  # the sender and the receiver send the data to others
            heapq.heappush(senders, start + transfer)
    clock = end = max(arrivals)
    free = [clock] * n_used
    for length in job.lengths:
        clock += network.per_task
        finish = max(clock, heapq.heappop(free)) + float(length)
        heapq.heappush(free, finish)
        end = max(end, finish)
    return job.serial + end


def resampled(lengths: Sequence[float], n_tasks: int, seed: int = 0) -> np.ndarray:
    """Draw task lengths from measured ones."""
    return np.random.default_rng(seed).choice(np.asarray(lengths), size=n_tasks)
