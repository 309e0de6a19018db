"""Tasks in, results out: in order, whole, and in spite of what can go wrong in a worker."""

import ctypes
import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from joblib.externals.loky.process_executor import TerminatedWorkerError

from allrelevant.exceptions import MissingExtraError, RelevanceWarning, WorkerDiedError
from allrelevant.parallel import parallel_imap, parallel_map

on_posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture
def temporary_folder(tmp_path, monkeypatch):
    """Where temporary files go, and nothing else."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def process_of(task):
    return os.getpid()


def meet(folder, task):
    """Wait until two processes are at work, and say which this one is."""
    Path(folder, str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.01)
    return os.getpid()


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def slow_first(task):
        time.sleep(0.05 if task == 0 else 0.0)
        return task * 10

    assert parallel_map(slow_first, range(4), n_jobs=n_jobs) == [0, 10, 20, 30]


def test_a_stream_gives_what_has_finished_first():
    def wait_for_the_other(folder, task):
        while task == 0 and not Path(folder, "done").exists():
            time.sleep(0.01)
        Path(folder, "done").touch()
        return task * 10

    with tempfile.TemporaryDirectory() as folder:
        stream = parallel_imap(partial(wait_for_the_other, folder), range(2), n_jobs=2)
        assert list(stream) == [(1, 10), (0, 0)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_tasks_no_results(n_jobs):
    assert parallel_map(str, [], n_jobs=n_jobs) == []


def test_one_job_is_done_in_this_process():
    assert set(parallel_map(process_of, range(3))) == {os.getpid()}


def test_two_jobs_are_done_in_two_others_that_are_kept(tmp_path):
    processes = parallel_map(partial(meet, tmp_path), range(2), n_jobs=2)
    assert len({os.getpid(), *processes}) == 3
    assert set(parallel_map(process_of, range(4), n_jobs=2)) <= set(processes)


def test_tasks_of_a_worker_are_done_by_that_worker():
    def nested(task):
        return {os.getpid(), *parallel_map(process_of, range(2), n_jobs=2)}

    assert all(len(processes) == 1 for processes in parallel_map(nested, range(2), n_jobs=2))


def test_tasks_within_threads_of_joblib_are_done_there():
    threads = joblib.Parallel(n_jobs=2, prefer="threads")
    nested = joblib.delayed(parallel_map)(process_of, [0, 1], n_jobs=2)
    assert threads([nested, nested]) == [[os.getpid()] * 2] * 2


def test_results_are_the_same_to_the_last_digit_at_any_n_jobs():
    data = np.random.default_rng(0).normal(size=(400, 400))

    def product(task):
        return (data[:, task:] @ data[task:]).sum(axis=0)

    one, two = (parallel_map(product, range(4), n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_task_is_raised_as_it_is(n_jobs, temporary_folder):
    def fail(task):
        raise ArithmeticError(f"task {task}")

    with pytest.raises(ArithmeticError, match="task 1"):
        parallel_map(fail, [1, 1], n_jobs=n_jobs)
    assert not list(temporary_folder.iterdir())


def test_what_cannot_be_sent_to_a_worker_is_an_error():
    with pytest.raises(pickle.PicklingError, match="Could not pickle the task"):
        parallel_map(str, [open, (task for task in [0])], n_jobs=2)


def test_leaving_a_stream_ends_it_at_once(temporary_folder, recwarn):
    def slow_but_first(task):
        time.sleep(30 * (task > 0))

    start = time.perf_counter()
    for index, _ in parallel_imap(slow_but_first, range(4), n_jobs=2):
        assert index == 0
        break
    assert time.perf_counter() - start < 20
    assert not list(temporary_folder.iterdir())
    assert not recwarn


# Progress


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_goes_to_standard_error(capsys, n_jobs):
    parallel_map(time.sleep, [0.15, 0.15], n_jobs=n_jobs, progress="counting")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "counting" in captured.err
    assert "1/2" in captured.err


def test_no_title_no_bar(capsys):
    parallel_map(str, [1, 2])
    assert capsys.readouterr().err == ""


def test_a_bar_without_tqdm_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert parallel_map(str, [1]) == ["1"]
    with pytest.raises(MissingExtraError, match=r"allrelevant\[cli\]"):
        parallel_map(str, [1], progress="counting")


# Handing over


class CountsItsLoads:
    """Data that note, in a file, every process that loads them."""

    def __init__(self, log):
        self.log = log

    def __setstate__(self, state):
        self.__dict__.update(state)
        with self.log.open("a") as log:
            log.write(f"{os.getpid()}\n")


def test_data_are_loaded_once_by_each_worker(tmp_path):
    def work(data, folder, task):
        return meet(folder, task)

    log, folder = tmp_path / "loads", tmp_path / "workers"
    folder.mkdir()
    workers = set(parallel_map(partial(work, CountsItsLoads(log), folder), range(10), n_jobs=2))
    assert sorted(log.read_text().split()) == sorted(str(worker) for worker in workers)


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


def look_at(data, task):
    dense, sparse = data["dense"], data["sparse"]
    mapped = is_mapped(dense), is_mapped(sparse.data)
    return *mapped, dense.flags.writeable, dense.sum(), sparse.sum()


@pytest.mark.parametrize("as_closure", [False, True])
def test_arrays_are_mapped_into_memory_and_not_copied(as_closure, temporary_folder):
    dense = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 7)))
    data = {"dense": dense, "sparse": sp.csr_array(dense), "empty": np.empty((0, 3))}
    function = (lambda task: look_at(data, task)) if as_closure else partial(look_at, data)
    for looks in parallel_map(function, range(2), n_jobs=2):
        assert looks == (True, True, False, dense.sum(), data["sparse"].sum())
    assert not list(temporary_folder.iterdir())


def test_parts_of_the_data_come_back_as_arrays():
    data = np.arange(10.0)
    for part in parallel_map(lambda task: data[task:], range(2), n_jobs=2):
        assert type(part) is np.ndarray
        assert part[0] == data[-len(part)]


# Warnings


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_tasks_arrive(n_jobs):
    def warn(task):
        warnings.warn(f"task {task}", RelevanceWarning, stacklevel=1)

    with pytest.warns(RelevanceWarning) as caught:
        parallel_map(warn, range(3), n_jobs=n_jobs)
    assert sorted(str(warning.message) for warning in caught) == ["task 0", "task 1", "task 2"]
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_filters_are_those_of_the_caller(n_jobs):
    def warn(task):
        warnings.warn("always the same", RelevanceWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        parallel_map(warn, range(3), n_jobs=n_jobs)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RelevanceWarning):
            parallel_map(warn, range(3), n_jobs=n_jobs)


# Workers that die


def die():
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def die_once(folder, task):
    with Path(folder, str(task)).open("a") as log:
        log.write(".")
    if task == 3 and Path(folder, str(task)).read_text() == ".":
        die()
    return task * 10


def test_a_task_whose_worker_died_is_tried_again(tmp_path, temporary_folder):
    assert parallel_map(partial(die_once, tmp_path), range(6), n_jobs=2) == [0, 10, 20, 30, 40, 50]
    assert (tmp_path / "3").read_text() == ".."
    assert not list(temporary_folder.iterdir())


def die_at_one(task):
    if task == 1:
        die()
    return task * 10


def test_a_task_that_kills_is_named_and_the_others_kept(temporary_folder):
    with pytest.raises(WorkerDiedError, match=r"task 1 \(<1>\), of 4") as caught:
        parallel_map(die_at_one, range(4), n_jobs=2, describe=lambda task: f"<{task}>")
    error = caught.value
    assert error.lost == [1]
    assert error.results == {0: 0, 2: 20, 3: 30}
    assert isinstance(error.__cause__, TerminatedWorkerError)
    assert not list(temporary_folder.iterdir())
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.lost, copy.results) == (str(error), error.lost, error.results)


def crash(task):
    if task == 1:
        ctypes.string_at(0)
    return task


def test_a_stream_gives_all_others_before_it_fails(capfd):
    finished: list[tuple[int, int]] = []
    with pytest.raises(WorkerDiedError, match="task 1"):
        finished.extend(parallel_imap(crash, range(3), n_jobs=2))
    assert sorted(finished) == [(0, 0), (2, 2)]
    assert "Segmentation fault" in capfd.readouterr().err


class KillsOnLoading:
    """A task that a worker does not even come to begin."""

    def __reduce__(self):
        return die, ()


def test_workers_that_never_begin_are_given_up():
    with pytest.raises(WorkerDiedError, match="12 more") as caught:
        parallel_map(str, [KillsOnLoading() for _ in range(17)], n_jobs=2)
    assert caught.value.lost == list(range(17))


# Ctrl-C

BUSY = """
    import ctypes, os
    from pathlib import Path
    from allrelevant.parallel import parallel_map

    def busy(task):
        Path(os.environ["STARTED"], str(task)).touch()
        ctypes.PyDLL(None).sleep(60)  # in C, with Python's lock held

    if __name__ == "__main__":
        parallel_map(busy, range(6), n_jobs=2)
"""

# Python runs it before anything else. As a worker it does not come further.
SLOW_START = """
    import os, sys, time
    from pathlib import Path

    if any("loky.backend.popen" in argument for argument in sys.orig_argv):
        Path(os.environ["STARTED"], str(os.getpid())).touch()
        time.sleep(60)
"""


@on_posix
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the parent", "from a terminal"])
@pytest.mark.parametrize("customize", ["", SLOW_START], ids=["busy", "starting"])
def test_an_interrupt_ends_everything_at_once(tmp_path, temporary_folder, send, customize):
    script, started = tmp_path / "program.py", tmp_path / "started"
    script.write_text(textwrap.dedent(BUSY))
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(customize))
    started.mkdir()
    parent = subprocess.Popen(
        [sys.executable, script],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            "STARTED": str(started),
            "TMPDIR": str(temporary_folder),
        },
    )
    while len(list(started.iterdir())) < 2:
        assert parent.poll() is None
        time.sleep(0.01)
    start = time.perf_counter()
    send(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=30)  # ends when the last that can write has ended
    assert time.perf_counter() - start < 10
    assert parent.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not list(temporary_folder.iterdir())
