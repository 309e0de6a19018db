"""60 damaged checkpoints and 30 pairs of processes on one checkpoint.

The command resumes with the same result, or refuses with one line.
"""

import json
import os
import random
import sqlite3
import time

import numpy as np
import pytest

from allrelevant.datasets import make_linear_classification

from .forked import report_failures, run_command, start_command
from .test_commands import preload

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes cannot be forked on Windows")

N_DAMAGED = 60
N_PAIRS = 30
COMMAND = ["select", "table.csv", "--target", "y", "--method", "ebrfe", "--nested-cv", "-q",
           "--no-bounds", "--json", "result.json", "--checkpoint", "run.ckpt"]  # fmt: skip

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
ODD_VALUES = [b"", b"\x00" * 7, b"\xff" * 64, "text", 10**15, -1, None, 0.5]


def flip_bytes(path, rng):
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 30)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data)


def cut(path, rng):
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def append(path, rng):
    path.write_bytes(path.read_bytes() + bytes(rng.randrange(256) for _ in range(5000)))


def change_value(path, rng):
    """Replace a value of a random table, row and column."""
    with sqlite3.connect(path) as connection:
        table = rng.choice([row[0] for row in connection.execute(TABLES)])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
        if rows:
            connection.execute(
                f"UPDATE OR IGNORE {table} SET {rng.choice(columns)} = ? WHERE rowid = ?",
                (rng.choice(ODD_VALUES), rng.choice(rows)),
            )
    connection.close()


def drop_table(path, rng):
    with sqlite3.connect(path) as connection:
        names = [row[0] for row in connection.execute(TABLES)]
        connection.execute(f"DROP TABLE {rng.choice(names)}")
    connection.close()


def edit_blob(path, rng):
    """Change bytes at the beginning of a stored result, where its header is."""
    with sqlite3.connect(path) as connection:
        names = [row[0] for row in connection.execute(TABLES)]
        for name in names:
            for column in connection.execute(f"PRAGMA table_info({name})").fetchall():
                query = f"SELECT rowid, {column[1]} FROM {name} WHERE typeof({column[1]}) = 'blob'"
                for rowid, blob in connection.execute(query).fetchall()[:3]:
                    changed = bytearray(blob)
                    for _ in range(rng.randint(1, 8)):
                        if changed:
                            changed[rng.randrange(min(60, len(changed)))] = rng.randrange(256)
                    connection.execute(
                        f"UPDATE {name} SET {column[1]} = ? WHERE rowid = ?",
                        (bytes(changed), rowid),
                    )
    connection.close()


DAMAGES = [flip_bytes, cut, append, change_value, change_value, drop_table, edit_blob, edit_blob]


def read_result(folder):
    """Return the JSON result without the parts that differ between runs."""
    result = json.loads((folder / "result.json").read_text())
    return {key: value for key, value in result.items() if key in ("features", "selected")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a folder with a table, the checkpoint of a finished run and its result."""
    preload()
    folder = tmp_path_factory.mktemp("checkpoint")
    data = make_linear_classification(40, n_strong=2, n_weak=2, n_irrelevant=4, random_state=0)
    header = ",".join([f"x{j}" for j in range(data.X.shape[1])] + ["y"])
    np.savetxt(
        folder / "table.csv",
        np.column_stack([data.X, data.y]),
        fmt=["%.6f"] * data.X.shape[1] + ["%d"],
        delimiter=",",
        header=header,
        comments="",
    )
    outcome = run_command(COMMAND, timeout=120, folder=folder)
    assert outcome.code == 0, outcome.stderr
    return folder


def problem_of(folder, expected):
    """Resume from the checkpoint of a folder, and return what is wrong with the outcome."""
    path = folder / "run.ckpt"
    before = path.read_bytes()
    outcome = run_command(COMMAND, timeout=120, folder=folder)
    problem = outcome.problem()
    if problem is None and outcome.code == 2 and path.read_bytes() != before:
        return "the refused checkpoint was changed"
    if problem is None and outcome.code == 0 and read_result(folder) != expected:
        return "the result differs"
    return problem


def test_damaged_checkpoints(finished, tmp_path, capsys):
    expected, failures = read_result(finished), {}
    assert expected
    for seed in range(N_DAMAGED):
        folder, rng = tmp_path / str(seed), random.Random(seed)
        folder.mkdir()
        for name in ("table.csv", "run.ckpt"):
            (folder / name).write_bytes((finished / name).read_bytes())
        damage = DAMAGES[seed % len(DAMAGES)]
        damage(folder / "run.ckpt", rng)
        problem = problem_of(folder, expected)
        if problem is not None:
            failures[seed] = f"{damage.__name__}: {problem}"
    with capsys.disabled():
        message = report_failures("damaged checkpoints", N_DAMAGED, failures)
    assert not failures, message


def problem_of_two(folder, expected, rng):
    """Start two runs on one checkpoint, kill the first in some cases, and resume."""
    first = start_command(COMMAND, folder)
    time.sleep(rng.uniform(0, 0.5))
    second = start_command(COMMAND, folder)
    is_killed = rng.random() < 0.5
    if is_killed:
        time.sleep(rng.uniform(0, 0.5))
        first.kill()
    outcomes = [second.outcome(120)] + ([] if is_killed else [first.outcome(120)])
    if is_killed:
        first.outcome(120)
    for outcome in outcomes:
        if outcome.problem() is not None:
            return outcome.problem()
        if outcome.code == 2 and "in use by another run" not in outcome.stderr:
            return f"refused for another reason: {outcome.stderr}"
    if not is_killed and 0 not in [outcome.code for outcome in outcomes]:
        return "neither run succeeded"
    return problem_of(folder, expected)


def test_two_processes_on_one_checkpoint(finished, tmp_path, capsys):
    """The second process is refused, or it waits and gives the same result."""
    failures, expected = {}, read_result(finished)
    for seed in range(N_PAIRS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "table.csv").write_bytes((finished / "table.csv").read_bytes())
        problem = problem_of_two(folder, expected, random.Random(seed))
        if problem is not None:
            failures[seed] = problem
    with capsys.disabled():
        message = report_failures("two processes on one checkpoint", N_PAIRS, failures)
    assert not failures, message
