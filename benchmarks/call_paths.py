"""Numbers of files, functions and nested calls executed by the main calls of the package.

usage: python -m benchmarks.call_paths [--list]

A reader has to open these files to follow the call. Only Python code of the package that runs
during the call is counted. Imports, compiled functions and worker processes are not.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

import allrelevant
from allrelevant import SVMRFE, ClassificationBounds, SaliencySelector
from allrelevant.cli import main as command

PACKAGE = str(Path(allrelevant.__file__).parent) + os.sep

# Rows of the table of which a report is written.
N_ROWS = 150

BOUNDS = "ClassificationBounds().fit(X, y)"
ELIMINATION = "SVMRFE().fit(X, y)"
SALIENCY = "SaliencySelector(SVC()).fit(X, y)"
REPORT = "allrelevant report table.csv --target y"


@dataclass
class CallPath:
    """Functions of the package executed during a call, and the largest depth of nested calls."""

    codes: set[CodeType] = field(default_factory=set)
    depth: int = 0
    _current: int = 0

    @property
    def files(self) -> list[str]:
        """Return the paths of the executed files, relative to the package."""
        return sorted({code.co_filename.removeprefix(PACKAGE) for code in self.codes})

    @property
    def n_functions(self) -> int:
        """Return the number of named functions, without comprehensions and lambdas."""
        return sum(not code.co_name.startswith("<") for code in self.codes)

    def record(self, frame: FrameType, event: str, _: Any) -> None:
        """Record a call or return event; this is the callback for ``sys.setprofile``."""
        code = frame.f_code
        if event not in ("call", "return") or not _is_package_function(code):
            return
        self._current += 1 if event == "call" else -1
        self.codes.add(code)
        self.depth = max(self.depth, self._current)


def _is_package_function(code: CodeType) -> bool:
    """Return whether code is a function of the package; module and class bodies are not."""
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    file = code.co_filename
    return is_function and file.startswith(PACKAGE) and file.endswith(".py")


def call_path(call: Callable[[], Any]) -> CallPath:
    """Record the second of two runs of a call, to exclude imports."""
    call()
    path = CallPath()
    before = sys.getprofile()
    sys.setprofile(path.record)
    try:
        call()
    finally:
        sys.setprofile(before)
    return path


def report() -> None:
    """Run ``allrelevant report`` in a temporary folder, without terminal output."""
    frame = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "y"})[:N_ROWS]
    with TemporaryDirectory() as folder, chdir(folder), patch.object(sys, "argv", REPORT.split()):
        frame.to_csv("table.csv", index=False)
        with (
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            suppress(SystemExit),
        ):
            command()
        if not Path("report.html").exists():
            raise RuntimeError(f"{REPORT} did not write a report.")


def calls() -> dict[str, Callable[[], Any]]:
    """Return the calls to record, all of them on the breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return {
        BOUNDS: lambda: ClassificationBounds(random_state=0).fit(X, y),
        ELIMINATION: lambda: SVMRFE().fit(X, y),
        SALIENCY: lambda: SaliencySelector(SVC(), random_state=0).fit(X, y),
        REPORT: report,
    }


def main() -> None:
    """Print the numbers of files, functions and nested calls, one row per call."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.call_paths")
    parser.add_argument("--list", action="store_true", help="also print the files")
    args = parser.parse_args()
    print(f"{'call':40s} {'files':>6s} {'functions':>10s} {'depth':>6s}")
    for name, call in calls().items():
        path = call_path(call)
        print(f"{name:40s} {len(path.files):6d} {path.n_functions:10d} {path.depth:6d}")
        if args.list:
            print("".join(f"  {file}\n" for file in path.files))


if __name__ == "__main__":
    main()
