"""Tests of checkpoint files: stored steps, locking, errors for unrelated or damaged files."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from allrelevant import SVMRFE, CheckpointError
from allrelevant.checkpoints import CheckpointFile, open_checkpoint
from allrelevant.checkpoints.content import _check_sizes

KEY = {"data": "1c8f", "C": "1.0"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ckpt"


def fill(path: Path, n_results: int = 30) -> None:
    with CheckpointFile(path, KEY) as file:
        for place in range(n_results):
            file.append("steps", {"place": place, "x": np.full(200, place / 7)}, state={"b": place})


def test_values_are_restored_exactly(path):
    values = np.array([0.1, np.nextafter(1.0, 2.0), -0.0, np.inf])
    with CheckpointFile(path, KEY) as file:
        file.append("steps", {"x": values, "score": 1 / 3, "names": ["a", "ü"]}, state={"n": 1})
        file.append("steps", {"x": values[:0]}, state={"n": 2})
        file.append("others", {"y": 0})
    with CheckpointFile(path, KEY) as file:
        first, second = file.steps("steps")
        assert first["x"].tobytes() == values.tobytes()
        assert first["score"] == 1 / 3
        assert first["names"] == ["a", "ü"]
        assert second["x"].shape == (0,)
        assert file.state("steps") == {"n": 2}
        assert file.steps("others") == [{"y": 0}]
        assert file.state("others") is None


def test_checkpoint_of_a_different_run_raises(path):
    fill(path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"different run \(different: C, kernel\)"):
        CheckpointFile(path, {"data": "1c8f", "C": "2.0", "kernel": "rbf"})
    assert path.read_bytes() == before


@pytest.mark.parametrize("fraction", [0.0005, 0.005, 0.05, 0.3, 0.5, 0.9, 0.9999])
def test_truncated_file_raises_and_is_not_modified(path, fraction):
    fill(path)
    complete = path.read_bytes()
    truncated = complete[: int(fraction * len(complete))]
    path.write_bytes(truncated)
    with pytest.raises(CheckpointError, match="was not modified"):
        CheckpointFile(path, KEY)
    assert path.read_bytes() == truncated


def test_flipped_bytes_in_a_result_raise(path):
    fill(path)
    data = bytearray(path.read_bytes())
    place = data.index(np.full(200, 3 / 7).tobytes()[:64])
    data[place] ^= 0xFF
    path.write_bytes(data)
    with CheckpointFile(path, KEY) as file, pytest.raises(CheckpointError, match="damaged"):
        file.steps("steps")


def test_files_of_other_programs_raise(path):
    path.write_text("age,sick\n41,yes\n" * 20)
    with pytest.raises(CheckpointError, match="not a checkpoint file"):
        CheckpointFile(path, KEY)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE key (name TEXT, value TEXT)")
    database.close()
    with pytest.raises(CheckpointError, match="a different program"):
        CheckpointFile(path, KEY)


def test_file_in_use_raises(path):
    with CheckpointFile(path, KEY), pytest.raises(CheckpointError, match="in use by another run"):
        CheckpointFile(path, KEY)


def test_unwritable_paths_raise(tmp_path):
    with pytest.raises(CheckpointError, match="is a folder"):
        CheckpointFile(tmp_path, KEY)
    with pytest.raises(CheckpointError, match="does not exist"):
        CheckpointFile(tmp_path / "absent" / "run.ckpt", KEY)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if not os.access(locked, os.W_OK):  # root can write anywhere
        with pytest.raises(CheckpointError, match="is not writable"):
            CheckpointFile(locked / "run.ckpt", KEY)


def test_full_disk_loses_no_completed_step(path):
    with CheckpointFile(path, KEY) as file:
        file.append("steps", {"place": 0})
        (n_pages,) = file._database.execute("PRAGMA page_count").fetchone()
        file._database.execute(f"PRAGMA max_page_count = {n_pages}")
        with pytest.raises(CheckpointError, match="full"):
            file.append("steps", {"x": np.zeros(100_000)})
    with CheckpointFile(path, KEY) as file:
        assert file.steps("steps") == [{"place": 0}]


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
def test_killed_process_leaves_only_complete_steps(path):
    code = (
        "import sys, numpy as np\n"
        "from allrelevant.checkpoints import CheckpointFile\n"
        f"file = CheckpointFile(sys.argv[1], {KEY!r})\n"
        "for k in range(10**9):\n"
        "    file.append('steps', {'k': k, 'x': np.full(500, k)}, state={'k': k})\n"
        "    if k == 20: print('running', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with CheckpointFile(path, KEY) as file:
        results = file.steps("steps")
        assert [result["k"] for result in results] == list(range(len(results)))
        assert len(results) > 20
        assert all((result["x"] == result["k"]).all() for result in results)
        assert file.state("steps") == {"k": len(results) - 1}


def test_run_is_identified_by_data_and_parameters(path):
    X = np.arange(6.0)
    with open_checkpoint(SVMRFE(), X, path=path, ignore=["cv"], extra={"folds": "a"}) as checkpoint:
        checkpoint.series("steps").append({"score": 0.5}, {"C": 1.0})
    same = SVMRFE(cv=3, verbose=1, n_jobs=2)
    with open_checkpoint(same, X, path=path, ignore=["cv"], extra={"folds": "a"}) as checkpoint:
        series = checkpoint.series("steps")
        assert series.steps() == [{"score": 0.5}]
        assert series.state() == {"C": 1.0}
        assert checkpoint.series("others").steps() == []
        assert checkpoint.series("others").state() == {}
    with (
        pytest.raises(CheckpointError, match=r"\(different: data, folds, C\)"),
        open_checkpoint(SVMRFE(C=2), X + 1, path=path, ignore=["cv"], extra={"folds": "b"}),
    ):
        pass


def test_without_a_path_nothing_is_stored():
    with open_checkpoint(SVMRFE(), path=None) as checkpoint:
        series = checkpoint.series("steps")
        series.append({"score": 0.5}, {"C": 1.0})
        assert series.steps() == []
        assert series.state() == {}


HUGE = b"\x93NUMPY\x01\x00v\x00" + (
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
)


def packed_entries(**entries):
    """Return the bytes of a step with entries that may not be arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 40, "text", 17, packed_entries(x=HUGE), packed_entries(x=b"")],
    ids=["empty", "noise", "text", "number", "huge", "no header"],
)
@pytest.mark.parametrize("table", ["results", "states"])
def test_odd_content_raises_and_is_not_modified(path, table, content):
    fill(path, 3)
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE {table} SET content = ?", (content,))
    database.close()
    before = path.read_bytes()
    read = "steps" if table == "results" else "state"
    with CheckpointFile(path, KEY) as file, pytest.raises(CheckpointError, match="damaged"):
        getattr(file, read)("steps")
    assert path.read_bytes() == before


def test_steps_with_other_fields_or_of_another_place_raise(path):
    fill(path, 3)
    with sqlite3.connect(path) as database:
        swapped = "UPDATE results SET content = (SELECT content FROM results WHERE place = 0)"
        database.execute(swapped)
    database.close()
    with CheckpointFile(path, KEY) as file, pytest.raises(CheckpointError, match="changed"):
        file.steps("steps")


def test_missing_steps_raise(path):
    fill(path, 3)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM results WHERE place = 1")
    database.close()
    with CheckpointFile(path, KEY) as file, pytest.raises(CheckpointError, match="missing"):
        file.steps("steps")


@pytest.mark.parametrize("table", ["key", "results", "states"])
def test_missing_tables_raise(path, table):
    fill(path, 3)
    with sqlite3.connect(path) as database:
        database.execute(f"DROP TABLE {table}")
    database.close()
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="tables are missing"):
        CheckpointFile(path, KEY)
    assert path.read_bytes() == before


def test_arrays_are_not_allocated_before_their_size_is_checked():
    data = packed_entries(x=HUGE)
    with pytest.raises(ValueError, match="wrong size"):
        _check_sizes(data)


def test_paths_that_cannot_be_files(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for name in ("loop", "pipe", "x" * 300, "."):
        with pytest.raises(CheckpointError):
            CheckpointFile(tmp_path / name, KEY)


RETRY = "Use a different path, or delete the file."


@pytest.fixture
def message(path):
    """Return a function that opens and uses a checkpoint, and returns the message of its error."""

    def message_of(use=lambda file: None, key=KEY):
        with pytest.raises(CheckpointError) as caught, CheckpointFile(path, key) as file:
            use(file)
        return str(caught.value)

    return message_of


def edit(path, statement, *values):
    with sqlite3.connect(path) as database:
        database.execute(statement, values)
    database.close()


def test_messages_for_damaged_files(path, message):
    damage = f"Checkpoint {str(path)!r} is damaged ({{}}) and was not modified. {RETRY}"
    fill(path, 3)
    complete = path.read_bytes()
    path.write_bytes(complete[:-100])
    assert message() == damage.format("the file is truncated")
    path.write_bytes(complete)
    edit(path, "UPDATE results SET content = 'x' WHERE place = 1")
    assert message(lambda file: file.steps("steps")) == damage.format("a step is empty")
    edit(path, "DELETE FROM results WHERE place = 1")
    assert message(lambda file: file.steps("steps")) == damage.format("steps are missing")

    def read_without_table(file):
        file._database.execute("DROP TABLE results")
        file.steps("steps")

    assert message(read_without_table) == damage.format("no such table: results")
    assert message() == damage.format("its tables are missing or different")


def test_messages_for_damaged_databases(path, message):
    fill(path, 30)
    data = bytearray(path.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    data[page : 2 * page] = b"\xff" * page
    path.write_bytes(data)
    assert message().startswith(f"Checkpoint {str(path)!r} is damaged (")
    assert "(None)" not in message()
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4080)
    assert "is damaged (file is not a database)" in message()


def test_messages_for_other_files(path, message):
    name = repr(str(path))
    path.write_text("age,sick\n")
    expected = "is not a checkpoint file and was not modified. Use a different path."
    assert message() == f"{name} {expected}"
    path.unlink()
    edit(path, "CREATE TABLE key (name TEXT, value TEXT)")
    expected = "is an SQLite database created by a different program and was not modified."
    assert message() == f"{name} {expected} Use a different path."
    path.unlink()
    fill(path, 1)
    expected = f"belongs to a different run (different: C) and was not modified. {RETRY}"
    assert message(key={**KEY, "C": "2.0"}) == f"Checkpoint {name} {expected}"
    with CheckpointFile(path, KEY):
        expected = "is in use by another run. Wait until that run finishes, or use a different path"
        assert message() == f"Checkpoint {name} {expected}."
    path.unlink()
    os.mkfifo(path)
    assert message() == f"{name} is a pipe or a device. Pass the path of a checkpoint file."


def test_messages_for_files_that_cannot_be_written(path, message, monkeypatch):
    name = repr(str(path))
    fill(path, 1)
    expected = (
        f"Checkpoint {name} is not writable. Use a different path, or change the permissions."
    )
    for denied in (path, path.parent.resolve()):
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode, denied=denied: path != denied)
            assert message() == expected
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFile, "_lock", raising("disk I/O error"))
        assert message() == f"Cannot use checkpoint {name}: disk I/O error. Use a different path."
        patch.setattr(sqlite3, "connect", raising("unable to open database file"))
        expected = f"Cannot open checkpoint {name}: unable to open database file."
        assert message() == f"{expected} Use a different path."


def raising(text):
    def fail(*arguments, **named):
        raise sqlite3.OperationalError(text)

    return fail


def test_the_file_is_locked_and_logged(path):
    """A killed run leaves complete transactions, and a second run does not wait."""
    with CheckpointFile(path, KEY) as file:
        settings = {"locking_mode": "exclusive", "journal_mode": "wal", "synchronous": 1}
        settings["busy_timeout"] = 0
        for name, value in settings.items():
            assert file._database.execute(f"PRAGMA {name}").fetchone() == (value,)
        assert file._database.isolation_level is None
        thread = threading.Thread(target=file.append, args=("steps", {"place": 0}))
        thread.start()
        thread.join()
        assert file.steps("steps") == [{"place": 0}]
