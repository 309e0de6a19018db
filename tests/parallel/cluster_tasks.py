"""Functions that the tests of clusters run in workers. This module imports little, so that workers
load it quickly."""

import os
import signal
import time
from pathlib import Path

# Every wait ends with an error after this number of seconds.
TIMEOUT = 120.0


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.02)


def process_id(item):
    return os.getpid()


def meet(folder, n_processes, item):
    """Wait until several processes are running, and return the id of this process."""
    Path(folder, str(os.getpid())).touch()
    wait_until(lambda: len(list(Path(folder).iterdir())) >= n_processes)
    return os.getpid()


class CountsItsLoads:
    """Object that logs the process id whenever it is unpickled."""

    def __init__(self, log):
        self.log = log

    def __setstate__(self, state):
        self.__dict__.update(state)
        with self.log.open("a") as log:
            log.write(f"{os.getpid()}\n")


def die():
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def die_once(folder, item):
    with Path(folder, str(item)).open("a") as log:
        log.write(".")
    if item == 3 and Path(folder, str(item)).read_text() == ".":
        die()
    return item * 10


def die_together(folder, data, item):
    """Kill all three workers at the same time, once."""
    first = not Path(folder, "done").exists()
    if first:
        meet(Path(folder, "running"), 3, item)
        Path(folder, "done").touch()
        die()
    return float(data.sum()) + item


def die_at_one(item):
    if item == 1:
        die()
    return item * 10
