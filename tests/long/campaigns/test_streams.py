"""300 commands whose standard streams are closed, full, pipes without a reader, or tables.

Output that cannot be written ends the command with one line, or silently if nobody reads it.
Messages that cannot be written change nothing.
"""

import os
import random
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from allrelevant.datasets import make_linear_classification

from .forked import report_failures, start_command
from .test_commands import preload

pytestmark = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="requires fork and /dev/full"
)

N_CASES = int(os.environ.get("ALLRELEVANT_CAMPAIGN_STREAMS", "300"))

COMMANDS = (
    ["report", "{}", "--target", "y"],
    ["report", "{}", "--target", "y", "--json", "-"],
    ["report", "{}", "--target", "y", "--quiet"],
    ["select", "{}", "--target", "y", "--method", "svmrfe", "--no-bounds"],
    ["select", "{}", "--target", "y", "--method", "svmrfe", "--no-bounds", "--json", "-", "-q"],
    ["explain", "{}", "--target", "y", "--row", "1"],
    ["verify", "--show-checker"],
    ["report", "--help"],
    ["--version"],
)
INPUTS = ("file", "stdin", "stdin", "pipe", "slow pipe", "named pipe", "cut pipe", "closed stdin")
OUTPUTS = ("file", "file", "closed", "full", "no reader", "reader that leaves")
MESSAGES = ("file", "file", "closed", "full", "no reader")


@dataclass(frozen=True)
class Case:
    """Command and the states of its standard streams."""

    command: list[str]
    input: str
    output: str
    messages: str

    @classmethod
    def from_seed(cls, seed):
        rng = random.Random(seed)
        command, source = rng.choice(COMMANDS), rng.choice(INPUTS)
        name = {"file": "table.csv", "named pipe": "pipe.csv"}.get(source, "-")
        command = [name if word == "{}" else word for word in command]
        return cls(command, source, rng.choice(OUTPUTS), rng.choice(MESSAGES))

    @property
    def reads(self):
        """Whether the command reads a table."""
        return self.command[0] in ("report", "select", "explain") and "--help" not in self.command

    @property
    def writes(self):
        """Whether the command writes to standard output."""
        is_quiet = "--quiet" in self.command or "-q" in self.command
        return "--json" in self.command or not is_quiet

    def codes(self):
        """Return the exit codes that are right."""
        if self.reads and self.input == "closed stdin":
            return {2}
        codes = {0, 2} if self.reads and self.input == "cut pipe" else {0}
        failed = {"closed": {2}, "full": {2}, "no reader": {141}, "reader that leaves": {0, 141}}
        if self.writes and self.output in failed:
            codes = codes - {0} | failed[self.output]
        return codes


def feed(descriptor, data, kind):
    """Write a table to a pipe in a thread: at once, in parts, or only half of it."""
    data = data[: len(data) // 2] if kind == "cut pipe" else data
    step = 100 if kind == "slow pipe" else len(data)
    try:
        for start in range(0, len(data), step):
            os.write(descriptor, data[start : start + step])
    except BrokenPipeError:
        pass
    finally:
        os.close(descriptor)


def replace_stream(number, state):
    """Replace a standard stream by a full device or a pipe without a reader."""
    if state == "full":
        writer = os.open("/dev/full", os.O_WRONLY)
    elif state == "no reader":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        return
    os.dup2(writer, number)
    os.close(writer)


class Pipes:
    """Other ends of the standard streams of a command, which threads write and read."""

    def __init__(self, case, folder, data):
        # Streams of the command, by number, and the ends that only this process uses.
        self.streams: dict[int, int] = {}
        self.own: list[int] = []
        self.threads: list[threading.Thread] = []
        if case.input == "stdin":
            self.streams[0] = os.open(folder / "table.csv", os.O_RDONLY)
        elif case.input == "named pipe" and case.reads:
            os.mkfifo(folder / "pipe.csv")
            self._use((folder / "pipe.csv").write_bytes, data)
        elif case.input in ("pipe", "slow pipe", "cut pipe"):
            self.streams[0], writer = os.pipe()
            self._use(feed, writer, data, case.input)
            self.own.append(writer)
        if case.output == "reader that leaves":
            reader, self.streams[1] = os.pipe()
            self._use(leave, reader)
            self.own.append(reader)

    def _use(self, function, *arguments):
        self.threads.append(threading.Thread(target=function, args=arguments))

    def prepare(self):
        """Connect the streams, in the process of the command."""
        for descriptor in self.own:
            os.close(descriptor)
        for number, descriptor in self.streams.items():
            os.dup2(descriptor, number)
            os.close(descriptor)

    def start(self):
        """Start to write and read, in this process, after the other one was forked."""
        for descriptor in self.streams.values():
            os.close(descriptor)
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join(10)


def leave(reader):
    """Read the beginning of the output only."""
    os.read(reader, 10)
    os.close(reader)


def problem_of(case, folder, data):
    """Run a command with its streams, and return what is wrong with its outcome, or None."""
    pipes = Pipes(case, folder, data)

    def prepare():
        pipes.prepare()
        replace_stream(1, case.output)
        replace_stream(2, case.messages)
        # Streams are closed last, because new descriptors would get their numbers.
        states = case.input.removesuffix(" stdin"), case.output, case.messages
        for number, state in enumerate(states):
            if state == "closed":
                os.close(number)

    running = start_command(case.command, folder, prepare)
    pipes.start()
    outcome = running.outcome(60)
    pipes.join()
    return _problem_of(case, outcome, folder)


def _problem_of(case, outcome, folder):
    if outcome.code not in case.codes():
        return f"exit code {outcome.code}, not {case.codes()}: {outcome.stderr[-300:]!r}"
    if outcome.code == 141:
        shown = [line for line in outcome.stderr.splitlines() if "Error" in line]
        return f"not silent: {shown}" if shown else None
    if outcome.code == 2 and case.messages != "file":
        return None
    if list(folder.glob(".allrelevant*")):
        return "a temporary file was left"
    return outcome.problem()


def test_commands_with_closed_full_and_broken_streams(tmp_path, capsys):
    preload()
    table = make_linear_classification(30, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    lines = np.column_stack([table.X, table.y]).round(6).tolist()
    header = [f"x{j}" for j in range(table.X.shape[1])] + ["y"]
    data = "\n".join(",".join(map(str, row)) for row in [header, *lines]).encode()
    failures = {}
    for seed in range(N_CASES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "table.csv").write_bytes(data)
        case = Case.from_seed(seed)
        problem = problem_of(case, folder, data)
        if problem is not None:
            failures[seed] = f"{case}: {problem}"
    with capsys.disabled():
        message = report_failures("streams", N_CASES, failures)
    assert not failures, message
