"""Executor that uses the workers of a Dask cluster, based on futures.

*Data.* The arrays of a function and the rest of it are sent to the workers once, by content: data
that several runs share are not sent again (see ``cluster_data``).

*Tasks.* A task consists of an item and references to the data. Only a few tasks per worker are sent
ahead, and each result is released as soon as it has been collected. The memory of this process and
of the scheduler therefore does not depend on the number of items. Workers may join or leave.

*Worker crashes.* Dask runs the tasks of a lost worker elsewhere, and computes results again that
were lost with it. It gives up on a task after several workers have died with it. This task, or
another one that waited on the same workers, is the cause, so it is a suspect (see ``recovery``).
Dask cancels tasks whose data are lost with the last worker that had them. Data and tasks are then
sent again.

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
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
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

# A run ends if no worker has been available for this number of seconds.
MAX_SECONDS_WITHOUT_WORKERS = 300.0

# A cluster that this process started gives up on a worker after this time. Dask's default of 15
# seconds is too short: a worker that is restarting at that moment, for any reason, is lost forever.
RESTART_TIME = "5 minutes"

# Maximum number of times that the cluster may lose a task, its data or its result, before the task
# is suspected to be the cause. (A task that kills all workers also destroys the data on them.)
MAX_LOSSES = 2

# Errors of a client that is connected: a worker was lost, or an answer took too long.
LOST_WORKER_ERRORS = (OSError, CancelledError)


class ClusterExecutor:
    """Executor that uses the workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        if not isinstance(client, Client) or client.asynchronous:
            raise InputError(
                "executor must be a distributed.Client that is not asynchronous, or None (got "
                f"{client!r})."
            )
        self.client = client
        self.address = str(getattr(client.scheduler, "address", "unknown address"))
        self.workers: frozenset[str] = frozenset()
        self._data = SharedData(client, self.ask)

    @contextmanager
    def opened(self) -> Generator[None, None, None]:
        """Use the cluster while the block runs; release the data at the end."""
        self.refresh()
        # Dask's memory manager drops copies of data that no running task needs. It would then send
        # the same data again in the next run.
        manages_memory = self.ask(self.client.amm.running)
        if manages_memory:
            self.ask(self.client.amm.stop)
        try:
            with dask.config.set({"distributed.deploy.lost-worker-timeout": RESTART_TIME}):
                yield
        finally:
            self._data.release()
            if manages_memory:
                with suppress(ClusterError, *LOST_WORKER_ERRORS):  # the scheduler may be lost
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
        """Call a method of the client; raise ClusterError if the scheduler is lost."""

        async def call() -> Any:
            answer = method(*args, **kwargs)
            return await answer if hasattr(answer, "__await__") else answer

        try:
            return self.client.sync(call, callback_timeout=max_seconds)
        except (OSError, RuntimeError, AttributeError, asyncio.CancelledError) as error:
            self.check_connection(error)  # a client that is closed raises any of these
            raise

    def check_connection(self, cause: BaseException | None = None) -> None:
        if self.client.status != "running":
            raise ClusterError(
                f"The connection to the Dask scheduler at {self.address} is lost. Finished steps "
                "are in the checkpoint, if there is one. To continue, repeat the call with a "
                "cluster or without."
            ) from cause

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
        self.workers = found


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
        self._waiting = deque(items)
        self._running: dict[str, tuple[int, Future]] = {}  # indices and futures by key
        self._ended: SimpleQueue[str] = SimpleQueue()
        self._crash: Crash | None = None
        self._n_finished = 0
        self._n_losses: Counter[int] = Counter()
        self._checked = -float("inf")
        self._started = self._available = time.monotonic()

    def results(self) -> Results:
        try:
            while (self._waiting or self._running) and not self._all_crash:
                self._check_workers()
                self._submit()
                for outcome in self._collect():
                    self._n_finished += 1
                    yield outcome.unpack()
        finally:
            self._cancel()
        return self._crash

    @property
    def _all_crash(self) -> bool:
        n_crashes = 0 if self._crash is None else self._crash.n_crashes
        return self._n_finished == 0 and n_crashes >= MAX_IDLE_CRASHES

    def _check_workers(self) -> None:
        """Look for new workers from time to time; raise if there have been none for long."""
        self._cluster.check_connection()
        now = time.monotonic()
        if now - self._checked < CHECK_SECONDS:
            return
        self._checked = now
        with suppress(*LOST_WORKER_ERRORS):  # try again at the next check
            self._cluster.refresh()
            if self._running and self._cluster.workers:
                self._available = now
        if now - self._available > MAX_SECONDS_WITHOUT_WORKERS:
            raise ClusterError(
                f"The Dask cluster at {self._cluster.address} has had no workers for "
                f"{MAX_SECONDS_WITHOUT_WORKERS:g} seconds. Start workers and repeat the call. "
                "Finished steps are in the checkpoint, if there is one."
            )

    def _submit(self) -> None:
        """Send tasks to the cluster until enough of them are running or waiting there."""
        n_workers = len(self._cluster.workers)
        n_slots = min(n_workers, 1) if self._alone else n_workers * self._tasks_ahead(n_workers)
        n_new = min(n_slots - len(self._running), len(self._waiting))
        if n_new <= 0:
            return
        try:
            data = self._data.futures(n_copies=min(n_workers, len(self._items)))
        except (*LOST_WORKER_ERRORS, KeyError, ValueError):  # no block or no worker: try again
            self._checked = -float("inf")
            return
        indices = [self._waiting.popleft() for _ in range(n_new)]
        keys = [f"{self._data.title}-{uuid4().hex}" for _ in indices]
        futures = self._cluster.client.map(
            run_item,
            indices,
            [cloudpickle.dumps(self._items[index], protocol=5) for index in indices],
            blocks=data,
            key=keys,
            pure=False,
        )
        for key, index, future in zip(keys, indices, futures, strict=True):
            self._running[key] = index, future
            future.add_done_callback(lambda ended: self._ended.put(ended.key))

    def _tasks_ahead(self, n_workers: int) -> int:
        """Return the number of tasks to send ahead for each worker."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        per_worker = SECONDS_AHEAD * self._n_finished / seconds / max(n_workers, 1)
        return min(MAX_TASKS_AHEAD, max(MIN_TASKS_AHEAD, round(per_worker)))

    def _collect(self) -> list[Outcome]:
        """Wait a little for tasks to end; return the outcomes of those that finished."""
        try:
            ended = [self._ended.get(timeout=CHECK_SECONDS)]
        except Empty:
            return []
        while not self._ended.empty():
            ended.append(self._ended.get())
        tasks = {key: self._running.pop(key) for key in ended}
        outcomes = self._gather(
            {key: future for key, (_, future) in tasks.items() if future.status == "finished"}
        )
        for key, (index, future) in tasks.items():
            if key not in outcomes:
                self._handle_failure(index, future)
        return list(outcomes.values())

    def _gather(self, finished: dict[str, Future]) -> dict[str, Outcome]:
        """Return the outcomes of finished tasks, except those that were lost since.

        Dask computes lost results again. If this takes long, the tasks are repeated.
        """
        if not finished:
            return {}
        try:
            found = self._cluster.ask(self._cluster.client.gather, finished, errors="skip")
        except LOST_WORKER_ERRORS:
            return {}
        return {key: outcome for key, outcome in found.items() if outcome is not None}

    def _handle_failure(self, index: int, task: Future) -> None:
        """Repeat a task that was lost, note a crash, or raise the task's error."""
        error = self._cluster.ask(task.exception) if task.status == "error" else None
        if isinstance(error, KilledWorker):
            self._suspect(index, error)
        elif error is not None:
            self._cluster.refresh()  # different versions explain the error better
            raise error
        else:
            self._n_losses[index] += 1
            if self._n_losses[index] == MAX_LOSSES:
                self._suspect(index, ClusterError("Workers died with a task or with its data."))
            else:
                self._waiting.append(index)

    def _suspect(self, index: int, cause: Exception) -> None:
        others = set() if self._crash is None else self._crash.suspects
        suspects = others | {index}
        self._crash = Crash(suspects, cause, n_crashes=len(suspects))

    def _cancel(self) -> None:
        """Cancel tasks that are waiting or running, if the scheduler is not lost."""
        futures = [future for _, future in self._running.values()]
        if futures and self._cluster.client.status == "running":
            with suppress(*LOST_WORKER_ERRORS):
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
            LocalCluster(
                n_workers=n, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        if "://" in place:
            client = Client(address=place)
        else:
            Path(place).stat()  # Dask would wait for the file without a limit
            client = Client(scheduler_file=place)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"Cannot connect to a Dask scheduler at {place!r} ({error}). Pass the address of a "
            "running scheduler, its scheduler file, or 'local'."
        ) from error
    with client:
        yield client
