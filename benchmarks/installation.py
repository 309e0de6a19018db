"""Size and time of an installation, and times of the first and second use in a new environment.

usage: python -m benchmarks.installation [--wheel FILE] [--extras NAME ...] [--skip-sizes]

Each extra is installed in a new environment, with the versions of constraints.txt. The size is that
of all installed packages. The first row is the numerical stack alone: NumPy, SciPy, scikit-learn
and HiGHS. Times include downloads or reads from pip's cache. Then each workload runs
twice, each time in a new process, in a new environment without extras. The first process is the
first use after the installation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

STACK = ["numpy", "scipy", "scikit-learn", "highspy"]
EXTRAS = ("pandas", "excel", "parquet", "plot", "all", "networks")

FIT = "from allrelevant import {name}\nfrom sklearn.datasets import {data}\n"
FIT += "{name}({settings}).fit(*{data}(return_X_y=True))"

# Code that runs in a new process, by name of the workload.
WORKLOADS = {
    "ClassificationBounds, breast cancer": FIT.format(
        name="ClassificationBounds", data="load_breast_cancer", settings=""
    ),
    "MetricBounds, wine": FIT.format(name="MetricBounds", data="load_wine", settings=""),
    "SVMRFE, breast cancer": FIT.format(name="SVMRFE", data="load_breast_cancer", settings=""),
    "EBRFE, wine": FIT.format(name="EBRFE", data="load_wine", settings="n_candidates=3"),
    "allrelevant demo": "from allrelevant.cli.group import cli\n"
    "cli.main(['demo', '-q', '-o', 'report.html'])",
}


class Environment:
    """New virtual environment in a folder, with an empty home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=True)
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.python = str(folder / scripts / "python")
        self._empty_size = self._size()

    def install(self, *requirements: str) -> float:
        """Install packages and return the elapsed time in seconds."""
        options = ["--quiet", "--disable-pip-version-check", "--constraint", "constraints.txt"]
        start = time.perf_counter()
        command = [self.python, "-m", "pip", "install", *options, *requirements]
        subprocess.run(command, cwd=ROOT, check=True)
        return time.perf_counter() - start

    def megabytes(self) -> float:
        """Return the size of the installed packages."""
        return (self._size() - self._empty_size) / 1e6

    def _size(self) -> int:
        files = [Path(folder) / name for folder, _, names in os.walk(self.folder) for name in names]
        return sum(file.lstat().st_size for file in files)

    def run(self, code: str) -> float:
        """Run code in a new process, with a new home folder, and return the elapsed time."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        start = time.perf_counter()
        subprocess.run(
            [self.python, "-W", "ignore", "-c", code],
            env={"HOME": str(home), "PATH": os.environ["PATH"]},
            cwd=home,
            check=True,
        )
        return time.perf_counter() - start


def print_sizes(package: str, extras: list[str]) -> None:
    print("| installed | MB | MB more than the stack | seconds |\n| --- | ---: | ---: | ---: |")
    rows = {"NumPy, SciPy, scikit-learn and HiGHS": STACK, "allrelevant": [package]}
    rows |= {f"allrelevant[{extra}]": [f"{package}[{extra}]"] for extra in extras}
    stack = 0.0
    for name, requirements in rows.items():
        with tempfile.TemporaryDirectory() as folder:
            environment = Environment(Path(folder))
            seconds = environment.install(*requirements)
            size = environment.megabytes()
        stack = stack or size
        print(f"| {name} | {size:.0f} | {size - stack:.0f} | {seconds:.0f} |", flush=True)


def print_first_uses(package: str) -> None:
    print("\n| workload | first process (s) | second process (s) | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name, code in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            environment = Environment(Path(folder))
            environment.install(package)
            first, second = environment.run(code), environment.run(code)
        print(f"| {name} | {first:.2f} | {second:.2f} | {first / second:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="wheel to install (default: this checkout)")
    parser.add_argument("--extras", nargs="*", default=list(EXTRAS), help="extras to install")
    parser.add_argument("--skip-sizes", action="store_true", help="measure only the first uses")
    args = parser.parse_args()
    package = str(args.wheel.resolve()) if args.wheel else "."
    print(f"Python {sys.version.split()[0]}\n")
    if not args.skip_sizes:
        print_sizes(package, args.extras)
    print_first_uses(package)


if __name__ == "__main__":
    main()
