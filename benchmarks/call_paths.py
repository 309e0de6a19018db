"""How much of the package one call passes through: files, functions, depth of nested calls.

usage: python -m benchmarks.call_paths [--list]

A reader who follows a call has to open these files. Only Python code of the package that runs
during the call counts: no imports, no compiled functions, no workers.
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

BOUNDS = "ClassificationBounds().fit(X, y)"
ELIMINATION = "SVMRFE().fit(X, y)"
SALIENCY = "SaliencySelector(SVC()).fit(X, y)"
REPORT = "allrelevant report table.csv --target y"


@dataclass
class CallPath:
    """What a call passed through."""

    codes: set[CodeType] = field(default_factory=set)
    depth: int = 0
    _current: int = 0

    @property
    def files(self) -> list[str]:
        """The files, below the folder of the package."""
        return sorted({code.co_filename.removeprefix(PACKAGE) for code in self.codes})

    @property
    def n_functions(self) -> int:
        """Functions with a name; comprehensions and lambdas belong to what they stand in."""
        return sum(not code.co_name.startswith("<") for code in self.codes)

    def record(self, frame: FrameType, event: str, _: Any) -> None:
        """What ``sys.setprofile`` calls."""
        code = frame.f_code
        if event not in ("call", "return") or not _is_function_of_package(code):
            return
        self._current += 1 if event == "call" else -1
        self.codes.add(code)
        self.depth = max(self.depth, self._current)


def _is_function_of_package(code: CodeType) -> bool:
    """No bodies of modules and classes, which run at import; no templates, which are not Python."""
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    file = code.co_filename
    return is_function and file.startswith(PACKAGE) and file.endswith(".py")


def call_path(call: Callable[[], Any]) -> CallPath:
    """Run a call twice, and follow it the second time, when all is imported and compiled."""
    call()
    found = CallPath()
    before = sys.getprofile()
    sys.setprofile(found.record)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def report() -> None:
    """The command in a folder of its own, with nothing printed."""
    frame = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "y"})
    with TemporaryDirectory() as folder, chdir(folder), patch.object(sys, "argv", REPORT.split()):
        frame.to_csv("table.csv", index=False)
        with (
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            suppress(SystemExit),
        ):
            command()
        if not Path("report.html").exists():
            raise RuntimeError(f"{REPORT} wrote no page.")


def calls() -> dict[str, Callable[[], Any]]:
    """What is followed, all on breast cancer and with defaults but for the seed."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return {
        BOUNDS: lambda: ClassificationBounds(random_state=0).fit(X, y),
        ELIMINATION: lambda: SVMRFE().fit(X, y),
        SALIENCY: lambda: SaliencySelector(SVC(), random_state=0).fit(X, y),
        REPORT: report,
    }


def main() -> None:
    """Print a table, a row a call."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.call_paths")
    parser.add_argument("--list", action="store_true", help="print the files, too")
    given = parser.parse_args()
    print(f"{'call':40s} {'files':>6s} {'functions':>10s} {'depth':>6s}")
    for name, call in calls().items():
        found = call_path(call)
        print(f"{name:40s} {len(found.files):6d} {found.n_functions:10d} {found.depth:6d}")
        if given.list:
            print("".join(f"  {file}\n" for file in found.files))


if __name__ == "__main__":
    main()
