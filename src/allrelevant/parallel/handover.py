"""The data, written once to a temporary folder and mapped into the memory of each worker.

A function comes with its data: an argument of a ``functools.partial``, or what a closure holds.
Its arrays are written beside its pickle, not into it, and every worker sees the same pages of the
same file. There they are ordinary arrays, but read-only.
"""

from __future__ import annotations

import mmap
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import cloudpickle

# What vector instructions want at most; a power of two.
_ALIGNMENT = 64


@contextmanager
def handed_over(function: Callable[..., Any]) -> Iterator[str]:
    """Write a function to a folder that lasts as long as the block.

    Parameters
    ----------
    function : callable
        Anything that cloudpickle can write: lambdas and closures too.

    Yields
    ------
    str
        The folder, from which workers take the function with :func:`received`.
    """
    # Windows does not remove a file that a worker still has in its memory.
    windows = sys.platform == "win32"
    with TemporaryDirectory(prefix="allrelevant-", ignore_cleanup_errors=windows) as folder:
        _write(function, Path(folder))
        yield folder


@lru_cache(maxsize=1)  # the latest alone: of earlier runs nothing is needed any more
def received(folder: str) -> Callable[..., Any]:
    """Load the function of a folder, the first time it is asked for in this process."""
    spans, pickled = pickle.loads(Path(folder, "function").read_bytes())
    arrays = _mapped(Path(folder, "arrays"))
    return pickle.loads(pickled, buffers=[arrays[start:stop] for start, stop in spans])


def log_start(folder: str, index: int) -> None:
    """Note that this process starts a task, for :func:`under_way` to find if it dies of it."""
    with Path(folder, f"{os.getpid()}.log").open("a") as log:
        log.write(f"{index}\n")


def under_way(folder: str) -> set[int]:
    """Take the latest task of every worker out of the logs, once all workers are gone."""
    latest: set[int] = set()
    for log in Path(folder).glob("*.log"):
        latest.update(int(index) for index in log.read_text().split()[-1:])
        log.unlink()
    return latest


def _write(function: Callable[..., Any], folder: Path) -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
    with (folder / "arrays").open("wb") as file:
        spans = [_append(buffer.raw(), file) for buffer in buffers]
    (folder / "function").write_bytes(pickle.dumps((spans, pickled)))


def _append(array: memoryview, file: BinaryIO) -> tuple[int, int]:
    start = file.seek(-file.tell() % _ALIGNMENT, os.SEEK_CUR)
    return start, start + file.write(array)


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:  # which no system maps
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
