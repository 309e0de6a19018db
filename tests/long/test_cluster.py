"""Tests that killed workers of a Dask cluster change no result, with Dask's default settings."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, config_context, stability
from allrelevant.exceptions import WorkerDiedError
from allrelevant.parallel import parallel_map
from tests.parallel.cluster_tasks import TIMEOUT, die, die_at_one

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")


@pytest.fixture(scope="module")
def module_client():
    with (
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client(module_client):
    module_client.wait_for_workers(3, timeout=TIMEOUT)
    with config_context(executor=module_client):
        yield module_client


def splits():
    X, y = load_breast_cancer(return_X_y=True)
    found = stability(ClassificationBounds(), X[:200], y[:200], n_splits=12, random_state=0)
    return [found.lower, found.upper, found.test_score]


@pytest.fixture(scope="module")
def expected():
    return splits()


@pytest.fixture(scope="module")
def seconds(module_client):
    """Return the duration of a run without kills."""
    with config_context(executor=module_client):
        splits()  # imports
        start = time.monotonic()
        splits()
        return time.monotonic() - start


@pytest.mark.parametrize(
    ("n_killed", "seed"), [(1, k) for k in range(20)] + [(2, k) for k in range(5)]
)
def test_killed_workers_change_no_result(client, expected, seconds, n_killed, seed):
    rng = random.Random(seed)
    processes = rng.sample(list(client.run(os.getpid).values()), n_killed)
    delay = rng.uniform(0, 0.5) * seconds

    def kill():
        for process in processes:
            os.kill(process, signal.SIGKILL)

    killer = threading.Timer(delay, kill)
    killer.start()
    found = splits()
    killer.join()
    for array, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, same)


def test_crashing_item_is_named_within_a_minute(client):
    start = time.monotonic()
    with pytest.raises(WorkerDiedError, match=r"for 1 of 20 items: 1 \(<1>\)\.") as caught:
        parallel_map(die_at_one, range(20), describe=lambda item: f"<{item}>")
    assert time.monotonic() - start < 60
    assert caught.value.results == {k: 10 * k for k in range(20) if k != 1}


def test_run_ends_if_all_items_crash(client):
    with pytest.raises(WorkerDiedError) as caught:
        parallel_map(lambda item: die(), range(30))
    assert caught.value.lost == list(range(30))
