"""Tests of parallel execution: order of results, errors, warnings, worker crashes, Ctrl-C."""

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

from allrelevant.exceptions import RelevanceWarning, WorkerDiedError
from allrelevant.parallel import parallel_imap, parallel_map
from tests.parallel.cluster_tasks import CountsItsLoads

on_posix = pytest.mark.skipif(os.name != "posix", reason="requires POSIX signals")


@pytest.fixture
def temporary_folder(tmp_path, monkeypatch):
    """Return an empty folder that replaces the system's folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def process_id(item):
    return os.getpid()


def meet(folder, item):
    """Wait until a second process is running, and return the id of this process."""
    Path(folder, str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.01)
    return os.getpid()


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_are_in_the_order_of_the_items(n_jobs):
    def slow_first(item):
        time.sleep(0.05 if item == 0 else 0.0)
        return item * 10

    assert parallel_map(slow_first, range(4), n_jobs=n_jobs) == [0, 10, 20, 30]


def test_imap_yields_results_as_they_finish():
    def wait_for_the_other(folder, item):
        while item == 0 and not Path(folder, "done").exists():
            time.sleep(0.01)
        Path(folder, "done").touch()
        return item * 10

    with tempfile.TemporaryDirectory() as folder:
        stream = parallel_imap(partial(wait_for_the_other, folder), range(2), n_jobs=2)
        assert list(stream) == [(1, 10), (0, 0)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_items_give_no_results(n_jobs):
    assert parallel_map(str, [], n_jobs=n_jobs) == []


def test_one_job_runs_in_this_process():
    assert set(parallel_map(process_id, range(3))) == {os.getpid()}


def test_two_jobs_run_in_two_workers_that_are_reused(tmp_path):
    processes = parallel_map(partial(meet, tmp_path), range(2), n_jobs=2)
    assert len({os.getpid(), *processes}) == 3
    assert set(parallel_map(process_id, range(4), n_jobs=2)) <= set(processes)


def test_nested_calls_run_in_the_same_worker():
    def nested(item):
        return {os.getpid(), *parallel_map(process_id, range(2), n_jobs=2)}

    assert all(len(processes) == 1 for processes in parallel_map(nested, range(2), n_jobs=2))


def test_calls_in_joblib_threads_run_in_this_process():
    threads = joblib.Parallel(n_jobs=2, prefer="threads")
    nested = joblib.delayed(parallel_map)(process_id, [0, 1], n_jobs=2)
    assert threads([nested, nested]) == [[os.getpid()] * 2] * 2


def test_results_are_bit_identical_for_any_n_jobs():
    data = np.random.default_rng(0).normal(size=(400, 400))

    def product(item):
        return (data[:, item:] @ data[item:]).sum(axis=0)

    one, two = (parallel_map(product, range(4), n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_error_of_an_item_is_raised_unchanged(n_jobs, temporary_folder):
    def fail(item):
        raise ArithmeticError(f"item {item}")

    with pytest.raises(ArithmeticError, match="item 1"):
        parallel_map(fail, [1, 1], n_jobs=n_jobs)
    assert not list(temporary_folder.iterdir())


def test_items_that_cannot_be_pickled_raise():
    with pytest.raises(pickle.PicklingError, match="Could not pickle the task"):
        parallel_map(str, [open, (item for item in [0])], n_jobs=2)


def test_leaving_the_loop_stops_workers_immediately(temporary_folder, recwarn):
    def slow_but_first(item):
        time.sleep(30 * (item > 0))

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


def test_no_progress_bar_without_a_title(capsys):
    parallel_map(str, [1, 2])
    assert capsys.readouterr().err == ""


# Shared data


def test_each_worker_loads_the_data_once(tmp_path):
    def work(data, folder, item):
        return meet(folder, item)

    log, folder = tmp_path / "loads", tmp_path / "workers"
    folder.mkdir()
    workers = set(parallel_map(partial(work, CountsItsLoads(log), folder), range(10), n_jobs=2))
    assert sorted(log.read_text().split()) == sorted(str(worker) for worker in workers)


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


def inspect_arrays(data, item):
    dense, sparse = data["dense"], data["sparse"]
    mapped = is_mapped(dense), is_mapped(sparse.data)
    return *mapped, dense.flags.writeable, dense.sum(), sparse.sum()


@pytest.mark.parametrize("as_closure", [False, True])
def test_arrays_are_mapped_into_memory_and_not_copied(as_closure, temporary_folder):
    dense = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 7)))
    data = {"dense": dense, "sparse": sp.csr_array(dense), "empty": np.empty((0, 3))}
    closure, bound = lambda item: inspect_arrays(data, item), partial(inspect_arrays, data)
    for properties in parallel_map(closure if as_closure else bound, range(2), n_jobs=2):
        assert properties == (True, True, False, dense.sum(), data["sparse"].sum())
    assert not list(temporary_folder.iterdir())


def test_slices_of_the_data_are_returned_as_arrays():
    data = np.arange(10.0)
    for part in parallel_map(lambda item: data[item:], range(2), n_jobs=2):
        assert type(part) is np.ndarray
        assert part[0] == data[-len(part)]


# Warnings


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_items_are_issued_in_this_process(n_jobs):
    def warn(item):
        warnings.warn(f"item {item}", RelevanceWarning, stacklevel=1)

    with pytest.warns(RelevanceWarning) as caught:
        parallel_map(warn, range(3), n_jobs=n_jobs)
    assert sorted(str(warning.message) for warning in caught) == ["item 0", "item 1", "item 2"]
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warning_filters_of_the_caller_apply(n_jobs):
    def warn(item):
        warnings.warn("always the same", RelevanceWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        parallel_map(warn, range(3), n_jobs=n_jobs)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RelevanceWarning):
            parallel_map(warn, range(3), n_jobs=n_jobs)


# Worker crashes


def die():
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def die_once(folder, item):
    with Path(folder, str(item)).open("a") as log:
        log.write(".")
    if item == 3 and Path(folder, str(item)).read_text() == ".":
        die()
    return item * 10


def test_item_whose_worker_crashed_is_retried(tmp_path, temporary_folder):
    assert parallel_map(partial(die_once, tmp_path), range(6), n_jobs=2) == [0, 10, 20, 30, 40, 50]
    assert (tmp_path / "3").read_text() == ".."
    assert not list(temporary_folder.iterdir())


def die_at_one(item):
    if item == 1:
        die()
    return item * 10


def test_crashing_item_is_named_and_other_results_are_kept(temporary_folder):
    with pytest.raises(WorkerDiedError, match=r"for 1 of 4 items: 1 \(<1>\)\.") as caught:
        parallel_map(die_at_one, range(4), n_jobs=2, describe=lambda item: f"<{item}>")
    error = caught.value
    assert error.lost == [1]
    assert error.results == {0: 0, 2: 20, 3: 30}
    assert isinstance(error.__cause__, TerminatedWorkerError)
    assert not list(temporary_folder.iterdir())
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.lost, copy.results) == (str(error), error.lost, error.results)


def crash(item):
    if item == 1:
        ctypes.string_at(0)
    return item


def test_imap_yields_all_other_results_before_it_raises(capfd):
    finished: list[tuple[int, int]] = []
    with pytest.raises(WorkerDiedError, match=r"for 1 of 3 items: 1 \(1\)\."):
        finished.extend(parallel_imap(crash, range(3), n_jobs=2))
    assert sorted(finished) == [(0, 0), (2, 2)]
    assert "Segmentation fault" in capfd.readouterr().err


class KillsOnLoading:
    """Item that kills the worker process when it is unpickled."""

    def __reduce__(self):
        return die, ()


def test_items_that_crash_on_loading_are_abandoned():
    with pytest.raises(WorkerDiedError, match="12 more") as caught:
        parallel_map(str, [KillsOnLoading() for _ in range(17)], n_jobs=2)
    assert caught.value.lost == list(range(17))


# Ctrl-C

BUSY = """
    import ctypes, os
    from pathlib import Path
    from allrelevant.parallel import parallel_map

    def busy(item):
        Path(os.environ["STARTED"], str(item)).touch()
        ctypes.PyDLL(None).sleep(60)  # in C, with the GIL held

    if __name__ == "__main__":
        parallel_map(busy, range(6), n_jobs=2)
"""

# Python runs sitecustomize first, so a worker with this file never finishes its start.
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
def test_interrupt_stops_all_processes_immediately(tmp_path, temporary_folder, send, customize):
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
    _, errors = parent.communicate(timeout=30)  # waits for all processes that can write
    assert time.perf_counter() - start < 10
    assert parent.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not list(temporary_folder.iterdir())
