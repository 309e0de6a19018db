"""Tests of parallel execution on a Dask cluster whose processes use only the loopback address."""

import json
import operator
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from allrelevant import EBRFE, ClassificationBounds, SaliencySelector, config_context, stability
from allrelevant.checkpoints import CheckpointFile
from allrelevant.cli.group import cli
from allrelevant.exceptions import ClusterError, InputError, RelevanceWarning, WorkerDiedError
from allrelevant.parallel import (
    cluster,
    cluster_context,
    has_workers,
    parallel_imap,
    parallel_map,
)
from allrelevant.parallel.cluster_data import ALIGNMENT, MIN_BLOCK_BYTES, N_RUNS_KEPT, Block
from allrelevant.parallel.cluster_versions import check_versions
from tests.parallel.cluster_tasks import (
    TIMEOUT,
    CountsItsLoads,
    die_at_one,
    die_once,
    die_together,
    meet,
    process_id,
    wait_until,
)


def start_cluster(n_workers, **kwargs):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs="CRITICAL",
        **kwargs,
    )


@pytest.fixture(scope="module")
def local_cluster():
    """Return a cluster of three workers. To save time, it gives up early on tasks that crash."""
    with start_cluster(3, scheduler_kwargs={"allowed_failures": 1}) as running:
        yield running


@pytest.fixture(scope="module")
def module_client(local_cluster):
    with Client(local_cluster) as connected:
        yield connected


@pytest.fixture
def client(module_client):
    """Return a client of three workers; workers that a former test killed are running again."""
    module_client.wait_for_workers(3, timeout=TIMEOUT)
    return module_client


@pytest.fixture
def on_cluster(client, monkeypatch):
    monkeypatch.setattr(cluster, "MAX_SECONDS_WITHOUT_WORKERS", TIMEOUT)
    with config_context(executor=client):
        yield client


# Results


def test_results_are_in_the_order_of_the_items(on_cluster):
    def slow_first(item):
        time.sleep(0.1 if item == 0 else 0.0)
        return item * 10

    assert parallel_map(slow_first, range(40)) == [10 * item for item in range(40)]


def test_work_runs_on_the_workers_only_inside_the_context(client, tmp_path):
    with config_context(executor=client):
        assert has_workers(1)
        processes = set(parallel_map(partial(meet, tmp_path, 3), range(3)))
        assert len(processes - {os.getpid()}) == 3
        assert parallel_map(process_id, [0]) == [os.getpid()]
        with config_context(executor=None):
            assert parallel_map(process_id, range(2)) == [os.getpid()] * 2
    assert parallel_map(process_id, range(2)) == [os.getpid()] * 2


def test_context_applies_to_one_thread_and_ends_after_an_error(client):
    found = []

    def ask_in_thread_and_fail():
        other = threading.Thread(target=lambda: found.append(has_workers(None)))
        other.start()
        other.join(TIMEOUT)
        raise KeyError

    with pytest.raises(KeyError), config_context(executor=client):
        ask_in_thread_and_fail()
    assert found == [False]
    assert not has_workers(None)


def test_nested_calls_run_in_the_same_worker(on_cluster):
    def nested(item):
        return {os.getpid(), *parallel_map(process_id, range(2), n_jobs=2)}

    assert all(len(processes) == 1 for processes in parallel_map(nested, range(4)))


def test_products_are_bit_identical_to_serial_ones(client):
    data = np.random.default_rng(0).normal(size=(400, 400))

    def product(item):
        return (data[:, item:] @ data[item:]).sum(axis=0)

    serial = parallel_map(product, range(6))
    with config_context(executor=client):
        np.testing.assert_array_equal(parallel_map(product, range(6)), serial)


def fit_bounds(X, y):
    fitted = ClassificationBounds(random_state=0).fit(X, y)
    return [fitted.interval_, fitted.pvalue_, fitted.get_support()]


def fit_stability(X, y):
    found = stability(ClassificationBounds(C=0.1), X, y, n_splits=5, random_state=0)
    return [found.lower, found.upper, found.test_score]


def fit_nested_elimination(X, y):
    fitted = EBRFE(n_candidates=2, cv=3, nested_cv=3, random_state=0).fit(X, y)
    return [fitted.ranking_, fitted.fold_scores_, fitted.held_out_score_.scores]


def fit_saliency(X, y):
    fitted = SaliencySelector(SVC(kernel="linear"), cv=3, random_state=0).fit(X, y)
    return [fitted.ranking_, fitted.importances_, fitted.fold_scores_]


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:80, :6], y[:80]


@pytest.mark.parametrize("fit", [fit_bounds, fit_stability, fit_nested_elimination, fit_saliency])
def test_estimators_give_the_same_bits_as_in_one_process(client, table, fit):
    serial = fit(*table)
    with config_context(executor=client):
        for found, expected in zip(fit(*table), serial, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_error_of_an_item_is_raised_unchanged(on_cluster):
    def fail(item):
        raise InputError(f"item {item}")

    with pytest.raises(InputError, match="item 1"):
        parallel_map(fail, [1, 1])
    assert parallel_map(abs, [-1, -2]) == [1, 2]


def test_items_that_cannot_be_pickled_raise(on_cluster):
    with pytest.raises((pickle.PicklingError, TypeError), match="pickle"):
        parallel_map(str, [(item for item in [0]), 1])


def test_warnings_of_items_are_issued_in_this_process(on_cluster):
    def warn(item):
        warnings.warn(f"item {item}", RelevanceWarning, stacklevel=1)

    with pytest.warns(RelevanceWarning) as caught:
        parallel_map(warn, range(3))
    assert sorted(str(warning.message) for warning in caught) == ["item 0", "item 1", "item 2"]


def test_leaving_the_loop_cancels_waiting_tasks(on_cluster, tmp_path):
    def touch_and_wait(item):
        Path(tmp_path, str(item)).touch()
        time.sleep(0.2)

    for _ in parallel_imap(touch_and_wait, range(60)):
        break
    assert parallel_map(abs, range(6)) == list(range(6))
    assert len(list(tmp_path.iterdir())) < 30


def test_progress_is_shown(on_cluster, capsys):
    parallel_map(time.sleep, [0.15, 0.15], progress="counting")
    assert "1/2" in capsys.readouterr().err


# Data


@pytest.fixture
def sent_bytes(client, monkeypatch):
    """Return a list of the sizes of all blocks that the client sends."""
    sizes: list[int] = []
    scatter = client.scatter

    def counting(blocks, **kwargs):
        sizes.extend(map(sys.getsizeof, blocks))
        return scatter(blocks, **kwargs)

    monkeypatch.setattr(client, "scatter", counting)
    return sizes


def test_data_are_sent_once_and_loaded_once_per_worker(client, tmp_path, sent_bytes):
    folder, log = tmp_path / "workers", tmp_path / "loads"
    folder.mkdir()
    data = np.random.default_rng(0).normal(size=MIN_BLOCK_BYTES)

    def work(marker, item):
        assert not data.flags.writeable
        assert data.ctypes.data % ALIGNMENT == 0
        return meet(folder, 3, item)

    with config_context(executor=client):
        workers = set(parallel_map(partial(work, CountsItsLoads(log)), range(30)))
        assert sum(size >= data.nbytes for size in sent_bytes) == 1
        # The same data in other functions are not sent again.
        parallel_map(lambda item: data[item], range(30))
        parallel_map(lambda item: data[-item], range(30))
    assert sorted(log.read_text().split()) == sorted(map(str, workers))
    assert sum(size >= data.nbytes for size in sent_bytes) == 1
    assert sum(sent_bytes) < 1.1 * data.nbytes


def test_equal_arrays_are_sent_once(client, sent_bytes):
    one, other = np.ones((2, MIN_BLOCK_BYTES))
    with config_context(executor=client):
        found = parallel_map(lambda item: one[item] + other[item], range(3))
    assert found == [2.0] * 3
    assert sum(sent_bytes) < 1.1 * one.nbytes


def test_data_are_released(client):
    def keys_on_workers():
        return [key for keys in client.has_what().values() for key in keys]

    data = np.random.default_rng(1).normal(size=MIN_BLOCK_BYTES)
    with config_context(executor=client):
        parallel_map(lambda item: data[item], range(3))
        assert keys_on_workers()
        for run in range(N_RUNS_KEPT + 2):
            parallel_map(partial(operator.add, run), range(3))
        n_large = sum(size > data.nbytes / 2 for size in client.nbytes(summary=False).values())
        assert n_large == 0
    wait_until(lambda: not keys_on_workers())


def test_received_memory_is_aligned_and_read_only():
    for shift in range(3):
        buffer = bytearray(100 + shift)
        block = Block.received(memoryview(buffer)[shift:])
        array = np.frombuffer(block.memory, dtype=np.uint8)
        assert array.ctypes.data % ALIGNMENT == 0
        assert block.memory.readonly
        assert len(array) == 100


# Commands


def run_command(*args):
    with pytest.raises(SystemExit) as ended:
        cli.main(list(args))
    return ended.value.code


def test_command_gives_the_same_result_on_a_cluster(client, tmp_path, table):
    X, y = table
    lines = [",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])]
    for row, label in zip(X, y, strict=True):
        lines.append(",".join([*map(repr, map(float, row)), f"c{label}"]))
    (tmp_path / "table.csv").write_text("\n".join(lines))
    documents: list[dict[str, Any]] = []
    for place in (
        [],
        ["--cluster", client.scheduler.address],
        ["--cluster", "local", "--jobs", "1"],
    ):
        output = tmp_path / f"result{len(documents)}.json"
        command = ("select", str(tmp_path / "table.csv"), "--target", "y", "--quiet", "--no-bounds")
        assert run_command(*command, "--json", str(output), *place) == 0
        documents.append(json.loads(output.read_text()))
    assert [document["features"] for document in documents] == [documents[0]["features"]] * 3


def test_command_reports_an_unreachable_scheduler_in_one_line(tmp_path, capsys):
    (tmp_path / "table.csv").write_text("a,b,y\n" + "1,2,p\n2,1,q\n" * 10)
    command = ("report", str(tmp_path / "table.csv"), "--target", "y", "--cluster")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert run_command(*command, "tcp://127.0.0.1:1") == 2
        assert run_command(*command, str(tmp_path / "missing.json")) == 2
        assert run_command(*command, "nonsense://1") == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert [line.startswith("Error: Cannot connect to a Dask scheduler") for line in errors] == [
        True
    ] * 3


# Clusters that cannot be used


def test_executor_must_be_a_client():
    with pytest.raises(InputError, match=r"distributed\.Client.*got 4"), config_context(executor=4):
        pass


def test_closed_client_raises(local_cluster):
    with Client(local_cluster) as client:
        pass
    with pytest.raises(ClusterError, match="is lost"), config_context(executor=client):
        pass


def test_threads_of_this_process_are_not_supported():
    with (
        LocalCluster(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as threads,
        Client(threads) as client,
        pytest.raises(ClusterError, match="processes=True"),
        config_context(executor=client),
    ):
        pass


def test_cluster_without_workers_raises(monkeypatch):
    monkeypatch.setattr(cluster, "MAX_SECONDS_WITHOUT_WORKERS", 0.5)
    with (
        start_cluster(0) as empty,
        Client(empty) as client,
        config_context(executor=client),
        pytest.raises(ClusterError, match="has had no workers"),
    ):
        parallel_map(abs, range(3))


def test_different_versions_are_reported_in_one_line(client, monkeypatch):
    from distributed import versions

    package_info = versions.get_package_info
    monkeypatch.setattr(
        versions, "get_package_info", lambda names: {**package_info(names), "numpy": "1.0"}
    )
    with pytest.raises(ClusterError) as caught, config_context(executor=client):
        pass
    message = str(caught.value)
    assert f"has numpy {np.__version__} instead of 1.0 (similar for 2 other" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("place", "package", "version", "message"),
    [
        ("worker", "allrelevant", None, r"^Worker tcp://a has no allrelevant instead of 2\."),
        ("worker", "python", "3.13.0.final.0", r"^Worker tcp://a has Python 3\.13 instead of 3\.1"),
        ("worker", "scipy", "9", r"^Worker tcp://a has scipy 9 instead of 2\."),
        ("scheduler", "allrelevant", None, "^The scheduler has no allrelevant"),
    ],
)
def test_version_of_each_package_and_place_is_compared(place, package, version, message):
    def get_versions(packages):
        same = {"packages": {**dict.fromkeys(packages, "2"), "python": "3.11.1.final.0"}}
        other = {"packages": {**same["packages"], package: version}}
        return {
            "client": same,
            "scheduler": other if place == "scheduler" else same,
            "workers": {"tcp://a": other if place == "worker" else same, "tcp://b": same},
        }

    with pytest.raises(ClusterError, match=message):
        check_versions(get_versions)


def test_patch_version_of_python_may_differ():
    def get_versions(packages):
        parts = [{"packages": {"python": f"3.11.{patch}.final.0"}} for patch in (1, 2, 3)]
        return {"client": parts[0], "scheduler": parts[1], "workers": {"tcp://a": parts[2]}}

    check_versions(get_versions)


# Scheduler in a process of its own


@contextmanager
def started(*command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(TIMEOUT)


@pytest.fixture
def scheduler_file(tmp_path):
    """Return the scheduler file of a cluster with one worker, and the scheduler's process."""
    file = tmp_path / "scheduler.json"
    local = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    with started("distributed.cli.dask_scheduler", "--port", "0", *local) as process:
        wait_until(file.exists)
        with started("distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", *local):
            yield file, process


def test_run_continues_from_its_checkpoint_if_the_scheduler_is_lost(
    scheduler_file, tmp_path, table, monkeypatch
):
    file, scheduler = scheduler_file
    n_stored = []
    extend = CheckpointFile.extend

    def counting(checkpoint, series, steps, **kwargs):
        extend(checkpoint, series, steps, **kwargs)
        n_stored.append(len(steps))
        if len(n_stored) == 2:
            scheduler.kill()

    def fit(checkpoint=None):
        settings: dict[str, Any] = {"n_candidates": 2, "cv": 3, "nested_cv": 3}
        return EBRFE(**settings, random_state=0, checkpoint=checkpoint).fit(*table)

    monkeypatch.setattr(CheckpointFile, "extend", counting)
    path = tmp_path / "run.ckpt"
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        pytest.raises(ClusterError, match="is lost") as caught,
        cluster_context(str(file)),
    ):
        fit(path)
    assert "\n" not in str(caught.value)
    n_before = sum(n_stored)
    n_stored[:] = [0, 0]
    resumed, expected = fit(path), fit()
    assert n_before + sum(n_stored) == 16 * len(expected.history_)
    np.testing.assert_array_equal(resumed.fold_scores_, expected.fold_scores_)
    np.testing.assert_array_equal(resumed.ranking_, expected.ranking_)


def test_encrypted_connections_are_used():
    with start_cluster(1, security=True) as encrypted, Client(encrypted) as client:
        assert encrypted.scheduler_address.startswith("tls://")
        with config_context(executor=client):
            assert parallel_map(abs, range(-4, 0)) == [4, 3, 2, 1]


# Worker crashes


def test_item_whose_worker_crashed_is_retried(on_cluster, tmp_path):
    assert parallel_map(partial(die_once, tmp_path), range(9)) == [10 * k for k in range(9)]
    assert (tmp_path / "3").read_text() == ".."


def test_data_are_sent_again_if_all_workers_die(on_cluster, tmp_path):
    (tmp_path / "running").mkdir()
    data = np.ones(MIN_BLOCK_BYTES)
    found = parallel_map(partial(die_together, tmp_path, data), range(9))
    assert found == [MIN_BLOCK_BYTES + k for k in range(9)]


def test_crashing_item_is_named_and_other_results_are_kept(on_cluster):
    with pytest.raises(WorkerDiedError, match=r"for 1 of 9 items: 1 \(<1>\)\.") as caught:
        parallel_map(die_at_one, range(9), describe=lambda item: f"<{item}>")
    assert caught.value.lost == [1]
    assert caught.value.results == {k: 10 * k for k in range(9) if k != 1}


def test_workers_may_join_late_and_leave(local_cluster, on_cluster, tmp_path):
    folders = [tmp_path / name for name in ("three", "four")]
    for folder in folders:
        folder.mkdir()

    def work(item):
        return meet(folders[item >= 3], 3 if item < 3 else 4, item)

    finished = parallel_imap(work, range(12))
    first = next(finished)[1]
    local_cluster.scale(4)  # the other items wait for the new worker
    processes = {first, *(process for _, process in finished)}
    assert len(processes) == 4
    local_cluster.scale(3)
    assert len(parallel_map(process_id, range(6))) == 6
    wait_until(lambda: len(on_cluster.nthreads()) == 3)
