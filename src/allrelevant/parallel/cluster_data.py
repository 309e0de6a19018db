"""Data on the workers of a Dask cluster: each block is sent once per worker and released later.

A function is divided into blocks, one per large array and one for the rest. The name of a block is
the hash of its content. Blocks that several runs use, such as the table of a fit, are kept on the
workers between the runs. This process sends a block to one worker, and workers send it to others.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client, Future

from ..exceptions import ClusterError
from .tasks import PickledFunction, dump_function

# Smaller arrays are sent together with the rest of the function.
MIN_BLOCK_BYTES = 1 << 16

# Blocks stay on the workers until they have not been used in this number of runs.
N_RUNS_KEPT = 4

# Alignment of NumPy arrays in bytes. Results can depend on it.
ALIGNMENT = 16


class Block:
    """Read-only memory of an array. It is aligned when it arrives in a worker."""

    def __init__(self, memory: memoryview) -> None:
        self.memory = memory.toreadonly()

    @classmethod
    def received(cls, memory: Any) -> Block:
        array = np.frombuffer(memory, dtype=np.uint8)
        if array.ctypes.data % ALIGNMENT:
            array = array.copy()
        return cls(array.data)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Block.received, (pickle.PickleBuffer(self.memory),)

    def __sizeof__(self) -> int:
        return self.memory.nbytes


class FunctionBlock:
    """Pickled function that is loaded once per worker, and dropped together with this block."""

    def __init__(self, pickled: PickledFunction) -> None:
        self._pickled = pickled
        self._loaded: Callable[[Any], Any] | None = None
        self._lock = threading.Lock()

    def load(self, blocks: Sequence[Block]) -> Callable[[Any], Any]:
        """Return the function, with its arrays in the given blocks."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._pickled.load([block.memory for block in blocks])
            return self._loaded

    def __reduce__(self) -> Any:
        return FunctionBlock, (self._pickled,)

    def __sizeof__(self) -> int:
        return len(self._pickled.content)


@dataclass
class _Sent:
    """Block that is on the cluster: its future, number of copies and last run."""

    future: Future
    n_copies: int
    run: int


class SharedData:
    """Blocks on the workers of a cluster. Several threads may use it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sent: dict[str, _Sent] = {}
        self._n_runs = 0
        self._generation = 0
        self._lock = threading.RLock()

    @contextmanager
    def shared(self, function: Callable[[Any], Any]) -> Generator[SharedFunction, None, None]:
        """Yield the blocks of a function; release blocks that earlier runs used afterwards."""
        pickled, arrays = dump_function(function, MIN_BLOCK_BYTES)
        blocks: dict[str, Any] = {_hash(pickled.content): FunctionBlock(pickled)}
        names = [*blocks, *(_hash(array) for array in arrays)]
        blocks |= {name: Block(array) for name, array in zip(names[1:], arrays, strict=True)}
        with self._lock:
            self._n_runs += 1
        yield SharedFunction(self, _name(function), names, blocks)
        with self._lock:
            oldest = self._n_runs - N_RUNS_KEPT
            self._sent = {name: sent for name, sent in self._sent.items() if sent.run > oldest}

    def send(
        self, names: Sequence[str], blocks: dict[str, Any], n_copies: int, ask: Callable[..., Any]
    ) -> list[Future] | None:
        """Send blocks that are not on the cluster; return all futures, or None if some are lost."""
        with self._lock:
            missing = {name: blocks[name] for name in blocks if name not in self._sent}
            if missing:
                keys = {name: f"allrelevant-{name}-{self._generation}" for name in missing}
                futures = ask(
                    self._client.scatter, {keys[name]: block for name, block in missing.items()}
                )
                for name, key in keys.items():
                    self._sent[name] = _Sent(futures[key], 1, 0)
            sent = [self._sent[name] for name in names]
            few = [part for part in sent if part.n_copies < n_copies]
            if few:
                ask(self._client.replicate, [part.future for part in few], n=n_copies)
            for part in sent:
                part.n_copies, part.run = max(part.n_copies, n_copies), self._n_runs
            futures = [part.future for part in sent]
            return futures if all(future.status == "finished" for future in futures) else None

    def is_lost(self, names: Sequence[str], ask: Callable[..., Any]) -> bool:
        with self._lock:
            futures = [self._sent[name].future for name in names if name in self._sent]
        try:
            return not all(ask(self._client.who_has, futures).values())
        except CancelledError:  # the client knows that a block is lost
            return True

    def forget(self, names: Sequence[str]) -> None:
        with self._lock:
            self._sent = {name: sent for name, sent in self._sent.items() if name not in names}
            self._generation += 1

    def release(self) -> None:
        """Release all blocks."""
        with self._lock:
            self._sent.clear()


@dataclass(frozen=True)
class SharedFunction:
    """Function whose blocks can be sent to the cluster; ``name`` is shown on Dask's dashboard."""

    data: SharedData
    name: str
    names: list[str]
    blocks: dict[str, Any]

    def futures(self, n_copies: int, ask: Callable[..., Any]) -> list[Future] | None:
        """Send the blocks if needed; return their futures, or None if workers left meanwhile."""
        try:
            return self.data.send(self.names, self.blocks, n_copies, ask)
        except (ClusterError, CancelledError, KeyError, ValueError):  # no worker or no block
            return None

    def is_lost(self, ask: Callable[..., Any]) -> bool:
        """Return whether no worker has some of the blocks that were sent."""
        return self.data.is_lost(self.names, ask)

    def forget(self) -> None:
        """Send the blocks again when they are needed."""
        self.data.forget(self.names)


def _hash(content: bytes | memoryview) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _name(function: Any) -> str:
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")
