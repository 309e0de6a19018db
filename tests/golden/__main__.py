"""Command that writes golden documents to a folder or compares two such folders.

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
from .comparison import Tolerance, apply_renames, differences
from .running import run_case

# Number of differences printed per document.
MAX_SHOWN = 10


def write(folder: Path, n_jobs: int, names: list[str]) -> int:
    """Write the golden documents of the named cases to a folder.

    A document that differs from the stored one by rounding only is kept. The diff then shows
    nothing but the change of the output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if CASES[name].needs_torch and importlib.util.find_spec("torch") is None:
            print(f"{name}: skipped, requires torch")
            continue
        start = time.perf_counter()
        for file, text in run_case(CASES[name], n_jobs).items():
            path = folder / file
            if not _is_stored(path, text, CASES[name].tolerance):
                path.write_text(text, encoding="utf-8")
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return 0


def _is_stored(path: Path, text: str, tolerance: Tolerance) -> bool:
    """Return whether a file exists and equals a document up to rounding."""
    if not path.exists():
        return False
    return not differences(path.name, path.read_text(encoding="utf-8"), text, tolerance)


def compare(first: Path, second: Path, renames: dict[str, str]) -> int:
    """Print the differences between two folders of documents; return 1 if there are any."""
    names = sorted({path.name for folder in (first, second) for path in folder.iterdir()})
    identical = 0
    for name in names:
        found = _file_differences(first / name, second / name, renames)
        identical += not found
        if found:
            print(f"{name}: {len(found)} differences")
        for line in found[:MAX_SHOWN]:
            print(f"  {line}")
        if len(found) > MAX_SHOWN:
            print(f"  ... and {len(found) - MAX_SHOWN} more")
    print(f"{identical} of {len(names)} documents identical")
    return 0 if names and identical == len(names) else 1


def _file_differences(first: Path, second: Path, renames: dict[str, str]) -> list[str]:
    for path in (first, second):
        if not path.exists():
            return [f"not in {path.parent}"]
    before = apply_renames(first.name, first.read_text(encoding="utf-8"), renames)
    return differences(first.name, before, second.read_text(encoding="utf-8"))


def main() -> int:
    """Parse the command line, then write or compare documents."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the documents of all cases")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--jobs", type=int, default=1, help="number of worker processes")
    writing.add_argument(
        "--case", action="append", choices=CASES, help="case to write; may be repeated"
    )
    comparing = commands.add_parser("compare", help="compare two folders bit for bit")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.add_argument(
        "--renames", type=Path, help='JSON file {"old": "new"}, applied to the first folder'
    )
    args = parser.parse_args()
    if args.command == "write":
        return write(args.folder, args.jobs, args.case or list(CASES))
    renames = json.loads(args.renames.read_text(encoding="utf-8")) if args.renames else {}
    return compare(args.first, args.second, renames)


if __name__ == "__main__":
    sys.exit(main())
