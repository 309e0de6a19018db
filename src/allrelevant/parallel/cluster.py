"""Executor that uses the workers of a Dask cluster, based on futures.

*Data.* The arrays of a function and the rest of it are sent to the workers once, by content: data
that several runs share are not sent again (see ``cluster_data``).

*Tasks.* A task consists of an item and references to the data. Only a few tasks per worker are sent
ahead, and each result is released as soon as it has been collected. The memory of this process and
of the scheduler therefore does not depend on the number of items. Workers may join or leave.

*Worker crashes.* Dask runs the tasks of a lost worker elsewhere, and gives up on a task after
several workers have died with it. This task, or another one that waited on the same workers, is the
cause, so it is a suspect (see ``recovery``). If all workers are lost, data and tasks are sent
again.

*Threads.* The package is not thread-safe in all parts, so a worker processes one item at a time.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Self
from uuid import uuid4

import cloudpickle
import dask
from distributed import Client, Future, KilledWorker, LocalCluster
from joblib import cpu_count, parallel_config
from joblib.parallel import SequentialBackend

from ..exceptions import ClusterError, InputError
from .cluster_data import SharedData, SharedFunction
from .cluster_versions import check_versions
from .recovery import MAX_IDLE_CRASHES, Crash, Results, run_with_retries
from .tasks import Outcome, process_item
from .threads import single_threaded

# Number of tasks sent ahead for each worker, so that it does not wait for this process: as many as
# a worker processes within SECONDS_AHEAD, between these limits.
MIN_TASKS_AHEAD = 3
MAX_TASKS_AHEAD = 50
SECONDS_AHEAD = 0.5

# Seconds between two checks of the workers.
CHECK_SECONDS = 1.0

# Maximum number of seconds to wait for an answer of the scheduler.
ANSWER_SECONDS = 60.0

# Maximum number of seconds to wait for results in the first attempt; it doubles with each attempt.
FIRST_GATHER_SECONDS = 5.0

# A run ends if there has been no worker for this number of seconds.
MAX_SECONDS_WITHOUT_WORKERS = 300.0

# Maximum number of times that the cluster may lose a task, its data or its result, before the task
# is suspected to be the cause. (A task that kills all workers also destroys the data on them.)
MAX_LOSSES = 2


# Workers get tasks this number of seconds after they have joined, because Dask does not restart a
# worker that is killed while it starts. This applies to clusters up to a maximum size: on a larger
# cluster, the loss of a few workers matters less than the size of a task with a list of workers.
SETTLE_SECONDS = 2.0
MAX_LISTED_WORKERS = 32

# Maximum number of consecutive attempts to send the data.
MAX_FAILURES = 30


class ClusterExecutor:
    """Executor that uses the workers of a Dask cluster; a context that releases its data."""

    def __init__(self, client: Client) -> None:
        if not isinstance(client, Client) or client.asynchronous:
            raise InputError(
                "executor must be a distributed.Client that is not asynchronous, or None (got "
                f"{client!r})."
            )
        self.client = client
        self.address = str(getattr(client.scheduler, "address", "unknown address"))
        self.workers: frozenset[str] = frozenset()
        self._joined: dict[str, float] = {}
        self._data = SharedData(client)
        self._manages_memory = False

    def __enter__(self) -> Self:
        self.refresh()
        self._joined = dict.fromkeys(self.workers, -float("inf"))
        # Dask's memory manager drops copies of data that no running task needs. It would then send
        # the same data again in the next run.
        self._manages_memory = self.ask(self.client.amm.running)
        if self._manages_memory:
            self.ask(self.client.amm.stop)
        return self

    def __exit__(self, *exception: object) -> None:
        self._data.release()
        if self._manages_memory:
            with suppress(ClusterError):  # the scheduler may be lost
                self.ask(self.client.amm.start)

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        describe: Callable[[Any], str],
    ) -> Generator[tuple[int, Any], None, None]:
        with self._data.shared(function) as data:
            yield from run_with_retries(
                partial(self._attempt, data), items, describe, max_solo_attempts=1
            )

    def _attempt(self, data: SharedFunction, items: Mapping[int, Any], *, alone: bool) -> Results:
        return (yield from _Attempt(self, data, items, alone=alone).results())

    def ask(
        self,
        method: Callable[..., Any],
        *args: Any,
        max_seconds: float = ANSWER_SECONDS,
        **kwargs: Any,
    ) -> Any:
        """Call a method of the client; raise ClusterError if the scheduler does not answer."""

        async def call() -> Any:
            answer = method(*args, **kwargs)
            return await answer if hasattr(answer, "__await__") else answer

        try:
            return self.client.sync(call, callback_timeout=max_seconds)
        except (OSError, RuntimeError, AttributeError, asyncio.CancelledError) as error:
            # A client that is closed raises any of these. Otherwise, they are bugs.
            if isinstance(error, OSError) or not self.is_connected:
                raise self.connection_error() from error
            raise

    @property
    def is_connected(self) -> bool:
        return bool(self.client.status == "running")

    def connection_error(self) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler at {self.address} is lost. Finished steps are "
            "in the checkpoint, if there is one. To continue, repeat the call with a cluster or "
            "without."
        )

    def refresh(self) -> None:
        """Update the set of workers; raise if the versions of new workers differ from ours."""
        found = frozenset(self.ask(self.client.nthreads))
        if any(address.startswith("inproc://") for address in found):
            raise ClusterError(
                "The workers of this cluster are threads of this process. Start the cluster with "
                "processes=True."
            )
        if found - self.workers:
            check_versions(partial(self.ask, self.client.get_versions))
        now = time.monotonic()
        self._joined = {address: self._joined.get(address, now) for address in found}
        self.workers = found

    @property
    def ready_workers(self) -> frozenset[str]:
        """Workers that may get tasks."""
        if len(self.workers) > MAX_LISTED_WORKERS:
            return self.workers
        limit = time.monotonic() - SETTLE_SECONDS
        return frozenset(address for address in self.workers if self._joined[address] <= limit)


@dataclass(frozen=True)
class _Task:
    """Task on the cluster: the index of its item, its future and the workers that may run it."""

    index: int
    future: Future
    workers: frozenset[str]


class _Attempt:
    """One attempt to process items on the cluster."""

    def __init__(
        self,
        cluster: ClusterExecutor,
        data: SharedFunction,
        items: Mapping[int, Any],
        *,
        alone: bool,
    ) -> None:
        self._cluster = cluster
        self._data = data
        self._items = items
        self._alone = alone
        self._name = uuid4().hex
        self._n_submitted = 0
        self._waiting = deque(items)
        self._running: dict[str, _Task] = {}
        self._ended: SimpleQueue[str] = SimpleQueue()
        self._crash: Crash | None = None
        self._n_finished = 0
        self._n_failures = 0
        self._gather_seconds = FIRST_GATHER_SECONDS
        self._n_losses: Counter[int] = Counter()
        self._checked = -float("inf")
        self._started = self._seen_workers = time.monotonic()

    def results(self) -> Results:
        try:
            while (self._waiting or self._running) and not self._all_crash:
                self._check_cluster()
                self._submit()
                for outcome in self._collect():
                    self._n_finished += 1
                    yield outcome.unpack()
        finally:
            self._cancel([task.future for task in self._running.values()])
        return self._crash

    @property
    def _all_crash(self) -> bool:
        n_suspects = 0 if self._crash is None else len(self._crash.suspects)
        return self._n_finished == 0 and n_suspects >= MAX_IDLE_CRASHES

    def _check_cluster(self) -> None:
        """Look for new workers from time to time; raise if the cluster is lost."""
        client = self._cluster.client
        while client.status == "connecting":  # the client closes itself after its timeout
            time.sleep(CHECK_SECONDS / 10)
        if not self._cluster.is_connected:
            raise self._cluster.connection_error()
        now = time.monotonic()
        if now - self._checked < CHECK_SECONDS:
            return
        self._cluster.refresh()
        self._checked = now
        self._check_data()
        if self._cluster.workers:
            self._seen_workers = now
        elif now - self._seen_workers > MAX_SECONDS_WITHOUT_WORKERS:
            raise ClusterError(
                f"The Dask cluster at {self._cluster.address} has had no workers for "
                f"{MAX_SECONDS_WITHOUT_WORKERS:g} seconds. Start workers and repeat the call. "
                "Finished steps are in the checkpoint, if there is one."
            )

    def _check_data(self) -> None:
        """Repeat tasks whose data or workers are lost. Dask does not report these tasks."""
        if not self._running:
            return
        no_data = self._data.is_lost(self._cluster.ask)
        if no_data:
            self._data.forget()
        lost = [
            key
            for key, task in self._running.items()
            if no_data or not task.workers & self._cluster.workers
        ]
        tasks = [self._running.pop(key) for key in lost]
        self._cancel([task.future for task in tasks])
        for task in tasks:
            self._repeat(task.index)

    def _submit(self) -> None:
        """Send tasks to the cluster until enough of them are running or waiting there."""
        workers = self._cluster.ready_workers
        n_slots = 1 if self._alone else len(workers) * self._tasks_ahead(len(workers))
        if not workers or not self._waiting or len(self._running) >= n_slots:
            return
        if self._alone:
            workers = frozenset([min(workers)])  # at most one worker dies
        data = self._data.futures(
            n_copies=min(len(workers), len(self._items)), ask=self._cluster.ask
        )
        if data is None:
            self._count_failure()
            return
        self._n_failures = 0
        n_new = min(n_slots - len(self._running), len(self._waiting))
        indices = [self._waiting.popleft() for _ in range(n_new)]
        keys = [f"{self._data.name}-{self._name}-{self._n_submitted + k}" for k in range(n_new)]
        self._n_submitted += n_new
        futures = self._cluster.client.map(
            run_item,
            indices,
            [cloudpickle.dumps(self._items[index], protocol=5) for index in indices],
            blocks=data,
            key=keys,
            pure=False,
            workers=sorted(workers) if len(workers) <= MAX_LISTED_WORKERS else None,
        )
        for key, index, future in zip(keys, indices, futures, strict=True):
            self._running[key] = _Task(index, future, workers)
            future.add_done_callback(lambda ended: self._ended.put(ended.key))

    def _tasks_ahead(self, n_workers: int) -> int:
        """Return the number of tasks to send ahead for each worker."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        per_worker = SECONDS_AHEAD * self._n_finished / seconds / max(n_workers, 1)
        return min(MAX_TASKS_AHEAD, max(MIN_TASKS_AHEAD, round(per_worker)))

    def _count_failure(self) -> None:
        """Send the data again later, because workers left while it was sent."""
        self._data.forget()
        self._n_failures += 1
        if self._n_failures > MAX_FAILURES:
            raise ClusterError(
                f"The workers of the Dask cluster at {self._cluster.address} did not receive the "
                f"data in {MAX_FAILURES} attempts. See the logs of the workers."
            )
        time.sleep(CHECK_SECONDS)

    def _collect(self) -> list[Outcome]:
        """Wait a little for tasks to end; return the outcomes of those that finished."""
        try:
            ended = [self._ended.get(timeout=CHECK_SECONDS)]
        except Empty:
            return []
        while not self._ended.empty():
            ended.append(self._ended.get())
        tasks = {key: self._running[key].future for key in ended if key in self._running}
        finished = {key: part for key, part in tasks.items() if part.status == "finished"}
        try:
            outcomes = self._gather(finished)
        except ClusterError:
            # Dask waits for results that it computes again, even if their data are lost. Check
            # this, and try again.
            self._gather_seconds *= 2
            self._checked = -float("inf")
            for key in tasks:
                self._ended.put(key)
            return []
        for key, future in tasks.items():
            task = self._running.pop(key)
            if key not in outcomes:
                self._handle_failure(task.index, future)
        return list(outcomes.values())

    def _gather(self, finished: dict[str, Future]) -> dict[str, Outcome]:
        """Return the outcomes of finished tasks, except those that were lost since."""
        if not finished:
            return {}
        try:
            gathered = self._cluster.ask(
                self._cluster.client.gather,
                finished,
                errors="skip",
                max_seconds=self._gather_seconds,
            )
        except CancelledError:  # at least one
            if len(finished) == 1:
                return {}
            parts = [self._gather({key: task}) for key, task in finished.items()]
            return {key: outcome for part in parts for key, outcome in part.items()}
        return {key: outcome for key, outcome in gathered.items() if outcome is not None}

    def _handle_failure(self, index: int, task: Future) -> None:
        """Repeat a task that was lost, note a crash, or raise the task's error."""
        error = self._cluster.ask(task.exception) if task.status == "error" else None
        if isinstance(error, KilledWorker):
            self._suspect(index, error)
        elif error is not None:
            self._cluster.workers = frozenset()
            self._cluster.refresh()  # different versions explain the error better
            raise error
        else:
            self._repeat(index)

    def _repeat(self, index: int) -> None:
        """Process an item again because the cluster lost it."""
        self._n_losses[index] += 1
        if self._n_losses[index] == MAX_LOSSES:
            self._suspect(index, ClusterError("Workers died with a task or with its data."))
        else:
            self._waiting.append(index)

    def _suspect(self, index: int, cause: Exception) -> None:
        others = set() if self._crash is None else self._crash.suspects
        self._crash = Crash(others | {index}, cause)

    def _cancel(self, futures: list[Future]) -> None:
        if futures and self._cluster.is_connected:
            self._cluster.ask(self._cluster.client.cancel, futures)


# Functions that run in workers

_ONE_ITEM_AT_A_TIME = threading.Lock()


def run_item(index: int, item: bytes, blocks: list[Any]) -> Outcome:
    """Apply a function, given by its blocks, to a pickled item; return its result and warnings."""
    function, *arrays = blocks
    # Nested calls run in this worker, as in a worker of joblib.
    inside_worker = parallel_config(backend=SequentialBackend(nesting_level=1))
    with _ONE_ITEM_AT_A_TIME, inside_worker, single_threaded():
        return process_item(function.load(arrays), index, pickle.loads(item))


# Connection to a cluster


@contextmanager
def connect(place: str, n_workers: int | None) -> Generator[Client, None, None]:
    """Connect to a scheduler, given by its address or file, or start a cluster if "local".

    Dask's configuration contains the certificates of a cluster that uses TLS.
    """
    if place == "local":
        n = cpu_count() if n_workers is None or n_workers < 0 else n_workers
        with (
            # Dask gives up on workers that take longer to restart, as they do on a busy computer.
            dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
            LocalCluster(
                n_workers=n, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(**({"address": place} if "://" in place else {"scheduler_file": place}))
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"Cannot connect to a Dask scheduler at {place!r} ({error}). Pass the address of a "
            "running scheduler, its scheduler file, or 'local'."
        ) from error
    with client:
        yield client
