"""Temporary folders that are removed even if the process that created them is killed.

The process locks a file in its folder. If it is killed, the lock is released, and the next process
that creates a folder removes the abandoned one. Folders without this file are never removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .._interrupts import at_forced_exit
from ..exceptions import InputError

PREFIX = "allrelevant-"
LOCK = ".allrelevant-lock"

# Windows has no such locks, and cannot delete a file that a worker has mapped into memory.
_WINDOWS = sys.platform == "win32"

_open: set[str] = set()


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Create a temporary folder, and remove it and all abandoned ones."""
    remove_abandoned_folders()
    try:
        folder, lock = _create()
    except OSError as error:
        raise InputError(
            f"Cannot create a temporary folder: {error.strerror or error}. Set the environment "
            "variable TMPDIR to a folder that is writable, or use a single process."
        ) from error
    _open.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _open.discard(folder)
        if lock is not None:
            os.close(lock)


def remove_abandoned_folders() -> None:
    """Remove the folders of this user whose processes have been killed."""
    if _WINDOWS:
        return
    with suppress(OSError):  # no temporary folder at all
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    with suppress(OSError):  # locked, removed in the meantime, or of a different user
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        lock = _lock(folder, os.O_RDWR)  # raises if there is no such file
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _create() -> tuple[str, int | None]:
    """Return a new folder and its lock."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        if _WINDOWS:
            return folder, None
        with suppress(FileNotFoundError, BlockingIOError):  # removed before it was locked
            lock = _lock(Path(folder), os.O_RDWR | os.O_CREAT)
            if (Path(folder) / LOCK).exists():
                return folder, lock
            os.close(lock)


def _lock(folder: Path, flags: int) -> int:
    """Lock the file in a folder and return the file descriptor that holds the lock."""
    import fcntl

    descriptor = os.open(folder / LOCK, flags | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_open_folders() -> None:
    for folder in list(_open):
        shutil.rmtree(folder, ignore_errors=True)


at_forced_exit(_remove_open_folders)
