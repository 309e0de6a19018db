"""Write the documents of all cases to a folder, or compare two folders bit for bit.

usage: python -m tests.golden write FOLDER [--jobs N] [--case NAME ...]
       python -m tests.golden compare FOLDER_A FOLDER_B [--renames FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from pathlib import Path

from .cases import CASES
from .comparison import differences, renamed
from .running import documents_of

# Of one document; the rest is only counted.
MAX_SHOWN = 10


def write(folder: Path, n_jobs: int, names: list[str]) -> int:
    """Write every document, as precise as the command writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if CASES[name].needs_torch and importlib.util.find_spec("torch") is None:
            print(f"{name}: left out, needs torch")
            continue
        start = time.perf_counter()
        for file, text in documents_of(CASES[name], n_jobs).items():
            (folder / file).write_text(text, encoding="utf-8")
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return 0


def compare(first: Path, second: Path, renames: dict[str, str]) -> int:
    """Print what differs; 1 if anything does."""
    names = sorted({path.name for folder in (first, second) for path in folder.iterdir()})
    identical = 0
    for name in names:
        found = _differences_of_files(first / name, second / name, renames)
        identical += not found
        if found:
            print(f"{name}: {len(found)} differences")
        for line in found[:MAX_SHOWN]:
            print(f"  {line}")
        if len(found) > MAX_SHOWN:
            print(f"  ... and {len(found) - MAX_SHOWN} more")
    print(f"{identical} of {len(names)} documents identical")
    return 0 if names and identical == len(names) else 1


def _differences_of_files(first: Path, second: Path, renames: dict[str, str]) -> list[str]:
    for path in (first, second):
        if not path.exists():
            return [f"not in {path.parent}"]
    before = renamed(first.name, first.read_text(encoding="utf-8"), renames)
    return differences(first.name, before, second.read_text(encoding="utf-8"))


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the documents of all cases")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--jobs", type=int, default=1, help="workers of each run")
    writing.add_argument("--case", action="append", choices=CASES, help="only this one")
    comparing = commands.add_parser("compare", help="compare two folders bit for bit")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument(
        "--renames", type=Path, help='JSON: {"old": "new"}, applied to the first'
    )
    given = parser.parse_args()
    if given.command == "write":
        return write(given.folder, given.jobs, given.case or list(CASES))
    renames = json.loads(given.renames.read_text(encoding="utf-8")) if given.renames else {}
    return compare(given.first, given.second, renames)


if __name__ == "__main__":
    sys.exit(main())
