"""Checkpoint file, an SQLite database with one row per completed step of a run.

If the process is killed, the file contains all completed steps and no partial step. If the file is
damaged or belongs to a different run, an error is raised and the file is not modified.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from .._paths import path_status
from .._text import one_line, printable
from .._version import __version__
from ..exceptions import CheckpointError
from .content import DAMAGED, FORMAT, pack, unpack
from .fingerprint import fingerprint, run_settings

# Application ID that distinguishes checkpoints from other SQLite databases ("alrl" in ASCII).
_APPLICATION_ID = 0x616C726C

_MAGIC = b"SQLite format 3\x00"

_TABLES = {
    "key": "(name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "results": "(series TEXT, place INTEGER, content BLOB NOT NULL, PRIMARY KEY (series, place))",
    "states": "(series TEXT PRIMARY KEY, content BLOB NOT NULL)",
}

# Largest number of differing settings that a message lists.
_MAX_LISTED = 20

# Place of a state among the places of results.
_STATE = -1


@contextmanager
def open_checkpoint(
    estimator: Any,
    *data: Any,
    path: str | os.PathLike[str] | None,
    ignore: Collection[str] = (),
    extra: Mapping[str, str] | None = None,
) -> Iterator[Checkpoint]:
    """Open the checkpoint file of a fit, or a checkpoint that stores nothing if ``path`` is None.

    A run is identified by its data, by the class and parameters of the estimator, and by the
    ``extra`` values. Parameters in ``ignore`` are left out, because they do not affect the steps.
    If a file belongs to a different run, the error message lists the parameters and extra keys that
    differ.
    """
    if path is None:
        yield Checkpoint(None)
        return
    key = {
        "version": __version__,
        "format": FORMAT,
        "method": type(estimator).__name__,
        "data": fingerprint(*data),
        **(extra or {}),
        **run_settings(estimator.get_params(deep=True), ignore),
    }
    with CheckpointFile(path, key) as file:
        yield Checkpoint(file)


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoint of a run, stored in a file if one is given."""

    file: CheckpointFile | None

    def series(self, name: str) -> Series:
        """Return the series of steps with the given name, such as the steps of one outer fold."""
        return Series(self.file, name)


class StoredSteps(Protocol):
    """Steps of one or more named series, in a file or in memory."""

    def steps(self, series: str) -> list[dict[str, Any]]: ...

    def state(self, series: str) -> dict[str, Any] | None: ...

    def extend(
        self,
        series: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        state: Mapping[str, Any] | None = None,
    ) -> None: ...


@dataclass(frozen=True)
class Series:
    """Named series of completed steps, stored in the checkpoint file if there is one."""

    file: StoredSteps | None
    name: str

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps that an interrupted run completed, in order."""
        return [] if self.file is None else self.file.steps(self.name)

    def state(self) -> dict[str, Any]:
        """Return the state stored with the last completed step; an empty dict if there is none."""
        return (self.file.state(self.name) if self.file else None) or {}

    def append(self, step: Mapping[str, Any], state: Mapping[str, Any] | None = None) -> None:
        """Store a completed step and the state that the next step requires."""
        self.extend([step], state)

    def extend(
        self, steps: Sequence[Mapping[str, Any]], state: Mapping[str, Any] | None = None
    ) -> None:
        """Store completed steps and the state that the next step requires."""
        if self.file is not None:
            self.file.extend(self.name, steps, state=state)


class CheckpointFile:
    """File that contains the completed steps of a run, in one or more named series.

    ``key`` identifies the run by its data, its settings and the package version. If the key of an
    existing file differs, a CheckpointError lists the differences. A CheckpointError is also raised
    if the file is damaged, in use or not writable.
    """

    def __init__(self, path: str | os.PathLike[str], key: Mapping[str, str]) -> None:
        self.path = Path(path)
        _check_path(self.path)
        try:
            # Transactions are explicit. Any thread may use the connection.
            self._database = sqlite3.connect(
                self.path, timeout=0.0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise CheckpointError(
                f"Cannot open checkpoint {self._name}: {error}. Use a different path."
            ) from error
        try:
            self._open(key)
        except BaseException:
            self._database.close()
            raise

    def steps(self, series: str) -> list[dict[str, Any]]:
        """Return all steps of a series in the order in which they were appended."""
        rows = self._select(
            "SELECT place, content FROM results WHERE series = ? ORDER BY place", series
        )
        if [place for place, _ in rows] != list(range(len(rows))):
            raise self._damage_error("steps are missing")
        return [self._unpack(content, series, place) for place, content in rows]

    def state(self, series: str) -> dict[str, Any] | None:
        """Return the latest state of a series, or None if no state is stored."""
        rows = self._select("SELECT content FROM states WHERE series = ?", series)
        return self._unpack(rows[0][0], series, _STATE) if rows else None

    def _select(self, query: str, series: str) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, (series,)).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damage_error(str(error)) from error

    def append(
        self, series: str, step: Mapping[str, Any], *, state: Mapping[str, Any] | None = None
    ) -> None:
        """Append a single step to a series; see :meth:`extend`."""
        self.extend(series, [step], state=state)

    def extend(
        self,
        series: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        """Append steps to a series and update the stored state, in a single transaction.

        All mappings contain arrays and JSON values. The state contains only data that the next
        step needs. If ``state`` is None, the stored state is not changed.
        """
        with self._transaction():
            (n_steps,) = self._database.execute(
                "SELECT count(*) FROM results WHERE series = ?", (series,)
            ).fetchone()
            for place, step in enumerate(steps, n_steps):
                self._database.execute(
                    "INSERT INTO results VALUES (?, ?, ?)",
                    (series, place, pack(step, series, place)),
                )
            if state is not None:
                self._database.execute(
                    "INSERT OR REPLACE INTO states VALUES (?, ?)",
                    (series, pack(state, series, _STATE)),
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    @property
    def _name(self) -> str:
        return repr(str(self.path))

    def _open(self, key: Mapping[str, str]) -> None:
        try:
            self._lock()
            (n_tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if n_tables == 0:
                self._create_tables(key)
            else:
                self._check_content()
                self._check_key(key)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise CheckpointError(
                    f"Checkpoint {self._name} is in use by another run. Wait until that run "
                    "finishes, or use a different path."
                ) from error
            raise CheckpointError(
                f"Cannot use checkpoint {self._name}: {error}. Use a different path."
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damage_error(str(error)) from error

    def _lock(self) -> None:
        """Lock the file until it is closed, so that no other run can write to it."""
        for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("ROLLBACK")

    def _create_tables(self, key: Mapping[str, str]) -> None:
        with self._transaction():
            self._database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            for table, columns in _TABLES.items():
                self._database.execute(f"CREATE TABLE {table} {columns}")
            self._database.executemany("INSERT INTO key VALUES (?, ?)", key.items())

    def _check_content(self) -> None:
        (page_size,) = self._database.execute("PRAGMA page_size").fetchone()
        if self.path.stat().st_size % page_size:
            raise self._damage_error("the file is truncated")
        (report,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if report != "ok":
            raise self._damage_error(report)
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION_ID:
            raise CheckpointError(
                f"{self._name} is an SQLite database created by a different program and was not "
                "modified. Use a different path."
            )
        tables = dict(self._database.execute("SELECT name, sql FROM sqlite_master WHERE sql > ''"))
        if tables != {name: f"CREATE TABLE {name} {columns}" for name, columns in _TABLES.items()}:
            raise self._damage_error("its tables are missing or different")

    def _check_key(self, key: Mapping[str, str]) -> None:
        stored = dict(self._database.execute("SELECT name, value FROM key"))
        differing = [
            printable(name) for name in {**stored, **key} if stored.get(name) != key.get(name)
        ]
        if differing:
            raise CheckpointError(
                f"Checkpoint {self._name} belongs to a different run (different: "
                f"{', '.join(differing[:_MAX_LISTED])}) and was not modified. Use a different "
                "path, or delete the file."
            )

    def _unpack(self, content: Any, series: str, place: int) -> dict[str, Any]:
        try:
            return unpack(content, series, place)
        except DAMAGED as error:
            raise self._damage_error(one_line(error)) from error

    def _damage_error(self, reason: str) -> CheckpointError:
        return CheckpointError(
            f"Checkpoint {self._name} is damaged ({printable(' '.join(reason.split()))}) and was "
            "not modified. Use a different path, or delete the file."
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise CheckpointError(
                f"Cannot write checkpoint {self._name}: {error}. The steps written so far are "
                "intact. To resume the run, fix the cause and repeat the call."
            ) from error


def _check_path(path: Path) -> None:
    """Raise if a checkpoint file cannot be written to the given path."""
    status = path_status(path, CheckpointError)
    if not os.access(path.resolve().parent, os.W_OK) or (status and not os.access(path, os.W_OK)):
        raise CheckpointError(
            f"Checkpoint {str(path)!r} is not writable. Use a different path, or change the "
            "permissions."
        )
    if status and not stat.S_ISREG(status.st_mode):
        raise CheckpointError(
            f"{str(path)!r} is a pipe or a device. Pass the path of a checkpoint file."
        )
    if status and status.st_size and not _is_database(path):
        raise CheckpointError(
            f"{str(path)!r} is not a checkpoint file and was not modified. Use a different path."
        )


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
