"""Reports on a folder of table files, without preparation of the files."""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from allrelevant.tables.reading import read_table

# A table with both of these columns has a survival target.
TIME, EVENT = "time", "event"

MAX_SECONDS = 20


@dataclass(frozen=True)
class Outcome:
    """Result of one run of the command: exit code, seconds, and the last line of its output."""

    code: int | None
    seconds: float
    cpu_seconds: float
    last_line: str
    has_traceback: bool

    @property
    def is_accepted(self) -> bool:
        """Whether the command wrote a report or printed an error of one line."""
        return self.code in (0, 2) and not self.has_traceback


def target_options(header: list[str]) -> list[str]:
    """Return the options that name the target: time and event, or else the last column."""
    if TIME in header and EVENT in header:
        return ["--target", TIME, "--event", EVENT]
    return ["--target", header[-1]]


def run_report(path: Path, timeout: float) -> Outcome:
    """Run `allrelevant report` on one file, as a user would."""
    with path.open(newline="") as lines:
        header = next(csv.reader(lines))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "allrelevant.cli", "report", str(path)]
        command += [*target_options(header), "--max-seconds", str(MAX_SECONDS)]
        command += ["-o", str(Path(folder) / "page.html")]
        start, cpu = time.monotonic(), _child_seconds()
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
            code, output = run.returncode, run.stdout + run.stderr
        except subprocess.TimeoutExpired:
            code, output = None, f"stopped after {timeout:g} s"
        printed = [line for line in output.splitlines() if line.strip()]
        if code == 2:
            printed = [line for line in printed if line.startswith("Error")] or printed
        return Outcome(
            code,
            time.monotonic() - start,
            _child_seconds() - cpu,
            printed[-1] if printed else "",
            "Traceback" in output,
        )


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def describe_columns(path: Path) -> tuple[int, int, str]:
    """Return the numbers of rows and columns of a file, and the kinds of its columns."""
    frame = read_table(str(path))
    n_words = sum(column.has_levels for column in frame)
    n_missing = sum(bool(column.n_missing) for column in frame)
    others = len(frame.columns) - n_words
    return len(frame), len(frame.columns), f"{others} numbers, {n_words} text, {n_missing} missing"


def print_reports(folder: Path, timeout: float) -> None:
    """Print one line per file of a folder: size, kinds, exit code, seconds and last line."""
    print("| File | Rows x columns | Kinds of columns | Exit code | s | CPU s | Last line |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    outcomes = []
    for path in sorted(folder.rglob("*.csv")):
        n_rows, n_columns, kinds = describe_columns(path)
        outcome = run_report(path, timeout)
        outcomes.append(outcome)
        flag = " (traceback)" if outcome.has_traceback else ""
        print(
            f"| {path.stem} | {n_rows} x {n_columns} | {kinds} | {outcome.code}{flag} "
            f"| {outcome.seconds:.0f} | {outcome.cpu_seconds:.1f} | {outcome.last_line} |",
            flush=True,
        )
    n_reports = sum(outcome.code == 0 for outcome in outcomes)
    n_refused = sum(outcome.code == 2 and outcome.is_accepted for outcome in outcomes)
    n_failed = len(outcomes) - n_reports - n_refused
    print(f"\n{n_reports} reports, {n_refused} errors of one line, {n_failed} failures.")
