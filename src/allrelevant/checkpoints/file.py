"""The file of a long run: an SQLite database with one row for each step.

A process that is killed leaves all steps that it has written, and no half of one. A file that
belongs to another run, or that is damaged, is refused and left as it is.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from .._version import __version__
from ..exceptions import CheckpointError
from .fingerprint import fingerprint, run_settings

# Tells our files from other databases; "alrl" in bytes.
_APPLICATION_ID = 0x616C726C

_MAGIC = b"SQLite format 3\x00"

# The entry of a packed mapping that holds all values that are not arrays, as JSON.
_PLAIN = "_"

_TABLES = (
    "CREATE TABLE key (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE results (series TEXT, place INTEGER, content BLOB NOT NULL,"
    " PRIMARY KEY (series, place))",
    "CREATE TABLE states (series TEXT PRIMARY KEY, content BLOB NOT NULL)",
)


@contextmanager
def open_checkpoint(
    estimator: Any,
    *data: Any,
    path: str | os.PathLike[str] | None,
    ignore: Collection[str] = (),
    extra: Mapping[str, str] | None = None,
) -> Iterator[Checkpoint]:
    """Open the checkpoint of a fit, before the long work starts; without a path nothing is kept.

    The run is known by its data, by the class and parameters of the estimator except those to
    ``ignore``, which do not change its steps, and by what is ``extra``. Messages that refuse a file
    of another run name the parameters, and the extras by their keys.
    """
    if path is None:
        yield Checkpoint(None)
        return
    key = {
        "version": __version__,
        "method": type(estimator).__name__,
        "data": fingerprint(*data),
        **(extra or {}),
        **run_settings(estimator.get_params(deep=True), ignore),
    }
    with CheckpointFile(path, key) as file:
        yield Checkpoint(file)


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of a run, whether or not it has a file."""

    file: CheckpointFile | None

    def series(self, name: str) -> Series:
        """One series of steps, such as those of an outer fold."""
        return Series(self.file, name)


@dataclass(frozen=True)
class Series:
    """One series of steps, each a mapping; without a file nothing is kept."""

    file: CheckpointFile | None
    name: str

    def steps(self) -> list[dict[str, Any]]:
        """The steps of an earlier run that was interrupted."""
        return [] if self.file is None else self.file.steps(self.name)

    def state(self) -> dict[str, Any]:
        """The state after the last of them; empty if there is none."""
        return (self.file.state(self.name) if self.file else None) or {}

    def append(self, step: Mapping[str, Any], state: Mapping[str, Any] | None = None) -> None:
        """Write a step, and the state that the next one starts from."""
        if self.file is not None:
            self.file.append(self.name, step, state=state)


class CheckpointFile:
    """The steps of a run so far, in one or more series; made if it is not there.

    ``key`` is what the run is known by: its data, its settings, the version. A file with another
    key is refused with a CheckpointError that names what differs, and so is one that is damaged, in
    use, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], key: Mapping[str, str]) -> None:
        self.path = Path(path)
        _require_place(self.path)
        try:
            # Transactions are begun by hand; another thread may resume what this one began.
            self._database = sqlite3.connect(
                self.path, timeout=0.0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise CheckpointError(f"Cannot open the checkpoint {self._name}: {error}.") from error
        try:
            self._begin(key)
        except BaseException:
            self._database.close()
            raise

    def steps(self, series: str) -> list[dict[str, Any]]:
        """All steps of a series, in the order in which they were appended."""
        rows = self._database.execute(
            "SELECT content FROM results WHERE series = ? ORDER BY place", (series,)
        )
        return [self._unpack(content) for (content,) in rows]

    def state(self, series: str) -> dict[str, Any] | None:
        """The state that was written with the latest step of a series."""
        row = self._database.execute(
            "SELECT content FROM states WHERE series = ?", (series,)
        ).fetchone()
        return None if row is None else self._unpack(row[0])

    def append(
        self, series: str, step: Mapping[str, Any], *, state: Mapping[str, Any] | None = None
    ) -> None:
        """Add a step to a series, and replace the state of the series: both or neither.

        Both hold arrays, and values that JSON knows. The state is what the next step needs and no
        later one; None leaves it as it is.
        """
        with self._transaction():
            self._database.execute(
                "INSERT INTO results SELECT ?, count(*), ? FROM results WHERE series = ?",
                (series, pack(step), series),
            )
            if state is not None:
                self._database.execute(
                    "INSERT OR REPLACE INTO states VALUES (?, ?)", (series, pack(state))
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

    def _begin(self, key: Mapping[str, str]) -> None:
        try:
            self._lock()
            (n_tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if n_tables == 0:
                self._make(key)
            else:
                self._require_ours()
                self._require_key(key)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise CheckpointError(
                    f"The checkpoint {self._name} is in use by another run: wait for it, or give "
                    "another file."
                ) from error
            raise CheckpointError(f"Cannot use the checkpoint {self._name}: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def _lock(self) -> None:
        """Keep others out as long as this is open: two runs would mix their steps."""
        for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("ROLLBACK")

    def _make(self, key: Mapping[str, str]) -> None:
        with self._transaction():
            self._database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            for table in _TABLES:
                self._database.execute(table)
            self._database.executemany("INSERT INTO key VALUES (?, ?)", key.items())

    def _require_ours(self) -> None:
        (page_size,) = self._database.execute("PRAGMA page_size").fetchone()
        if self.path.stat().st_size % page_size:
            raise self._damaged("its end is cut off")
        (verdict,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self._damaged(verdict)
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION_ID:
            raise CheckpointError(
                f"{self._name} is a database of another program. It was left as it is: give "
                "another file."
            )

    def _require_key(self, key: Mapping[str, str]) -> None:
        before = dict(self._database.execute("SELECT name, value FROM key"))
        differing = [name for name in {**before, **key} if before.get(name) != key.get(name)]
        if differing:
            raise CheckpointError(
                f"The checkpoint {self._name} is of another run: different {', '.join(differing)}. "
                "It was left as it is: give another file, or remove this one."
            )

    def _unpack(self, content: bytes) -> dict[str, Any]:
        try:
            return unpack(content)
        except (BadZipFile, ValueError, KeyError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> CheckpointError:
        return CheckpointError(
            f"The checkpoint {self._name} is damaged ({' '.join(why.split())}). It was left as it "
            "is: give another file, or remove this one."
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise CheckpointError(
                f"Cannot write the checkpoint {self._name}: {error}. What it holds is whole; the "
                "run can be resumed from it."
            ) from error


def _require_place(path: Path) -> None:
    """Refuse what no database can be written to, before the long work starts."""
    if path.is_dir():
        raise CheckpointError(f"{str(path)!r} is a folder: give the name of a checkpoint file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise CheckpointError(f"There is no folder {str(folder)!r} for the checkpoint {path.name}.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise CheckpointError(f"No permission to write the checkpoint {str(path)!r}.")
    if path.exists() and path.stat().st_size and not _starts_like_a_database(path):
        raise CheckpointError(
            f"{str(path)!r} is no checkpoint. It was left as it is: give another file."
        )


def _starts_like_a_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def pack(content: Mapping[str, Any]) -> bytes:
    """Write a mapping of arrays and of values that JSON knows as bytes that cannot run anything.

    Floats keep every bit, in arrays and outside.
    """
    arrays: dict[str, Any] = {
        name: value for name, value in content.items() if isinstance(value, np.ndarray)
    }
    plain = {name: value for name, value in content.items() if name not in arrays}
    file = io.BytesIO()
    arrays[_PLAIN] = np.array(json.dumps(plain))
    np.savez(file, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> dict[str, Any]:
    """Read what :func:`pack` has written."""
    with np.load(io.BytesIO(data), allow_pickle=False) as entries:
        plain: dict[str, Any] = json.loads(str(entries[_PLAIN]))
        return plain | {name: entries[name] for name in entries.files if name != _PLAIN}
