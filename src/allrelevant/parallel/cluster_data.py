"""Data on the workers of a Dask cluster: each block is sent once per worker and released later.

A function is divided into blocks, one per large array and one for the rest. The name of a block is
the hash of its content. Blocks that several runs use, such as the table of a fit, are kept on the
workers between the runs. This process sends a block to one worker, and workers send it to others.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client, Future

from .tasks import PickledFunction, dump_function

# Smaller arrays are sent together with the rest of the function.
MIN_BLOCK_BYTES = 1 << 16

# Blocks stay on the workers until they have not been used in this number of runs.
N_RUNS_KEPT = 4

# Blocks are sent again after this number of seconds, plus their size at the lowest rate of a
# network. Without a limit, Dask waits 30 seconds for a worker that died while it received a block.
MIN_SECONDS = 10.0
MIN_BYTES_PER_SECOND = 1e6

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
    """Blocks on the workers of a cluster. ``ask`` calls a method of the client."""

    def __init__(self, client: Client, ask: Callable[..., Any]) -> None:
        self._client = client
        self._ask = ask
        self._sent: dict[str, _Sent] = {}
        self._n_runs = 0

    @contextmanager
    def shared(self, function: Callable[[Any], Any]) -> Generator[SharedFunction, None, None]:
        """Yield the blocks of a function; release blocks that only earlier runs used."""
        pickled, arrays = dump_function(function, MIN_BLOCK_BYTES)
        names = [_hash(pickled.content), *map(_hash, arrays)]
        blocks = [FunctionBlock(pickled), *map(Block, arrays)]
        self._n_runs += 1
        yield SharedFunction(self, _title(function), names, dict(zip(names, blocks, strict=True)))
        oldest = self._n_runs - N_RUNS_KEPT
        self._sent = {name: sent for name, sent in self._sent.items() if sent.run > oldest}

    def send(self, blocks: Mapping[str, Any], n_copies: int) -> dict[str, Future]:
        """Send blocks that are not on the cluster; return the futures of all blocks by name.

        Raises an error of Dask if workers leave at the same time.
        """
        self._sent = {
            name: sent for name, sent in self._sent.items() if sent.future.status == "finished"
        }
        missing = [name for name in blocks if name not in self._sent]
        if missing:
            content = [blocks[name] for name in missing]
            futures = self._ask(
                self._client.scatter, content, hash=False, max_seconds=_max_seconds(content, 1)
            )
            for name, future in zip(missing, futures, strict=True):
                self._sent[name] = _Sent(future, 1, 0)
        few = [name for name in blocks if self._sent[name].n_copies < n_copies]
        if few:
            self._ask(
                self._client.replicate,
                [self._sent[name].future for name in few],
                n=n_copies,
                max_seconds=_max_seconds([blocks[name] for name in few], n_copies),
            )
        for name in blocks:
            self._sent[name].n_copies = max(self._sent[name].n_copies, n_copies)
            self._sent[name].run = self._n_runs
        return {name: self._sent[name].future for name in blocks}

    def release(self) -> None:
        """Release all blocks."""
        self._sent.clear()


@dataclass(frozen=True)
class SharedFunction:
    """Blocks of a function, which may contain equal arrays; a block is named by its content.

    ``title`` is shown on Dask's dashboard.
    """

    data: SharedData
    title: str
    names: list[str]
    blocks: Mapping[str, Any]

    def futures(self, n_copies: int) -> list[Future]:
        """Send the blocks if needed; return their futures in the order of ``names``."""
        sent = self.data.send(self.blocks, n_copies)
        return [sent[name] for name in self.names]


def _max_seconds(blocks: Sequence[Any], n_copies: int) -> float:
    """Return a limit for the time to send blocks; the number of copies doubles in each round."""
    n_bytes = sum(block.__sizeof__() for block in blocks)
    return MIN_SECONDS + n_copies.bit_length() * n_bytes / MIN_BYTES_PER_SECOND


def _hash(content: bytes | memoryview) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _title(function: Any) -> str:
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")
