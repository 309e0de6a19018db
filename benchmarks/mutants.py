"""Mutation testing of proofs, relevance classes and checkpoint files.

usage: python -m benchmarks.mutants [--group NAME] [--sample N] [--seed N]

mutmut changes one operator, constant, argument or assignment of a function at a time, and runs the
tests that call this function. A mutant that no test notices has survived. The command prints the
fraction of mutants that were killed, and the diff of each survivor. Survivors that compute the same
as the original are listed in ``equivalent_mutants.toml`` with the reason, and are not counted, nor
are SQL statements in another case.

The files and tests are in ``[tool.mutmut]`` of ``pyproject.toml``. mutmut does not change code
outside of functions, nor functions with a decorator. If a group has more than N mutants, N of them
are drawn at random. Everything happens in the folder ``mutants``, which is removed first.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import get_mutant_name

SOURCE = Path("src/allrelevant")

# Files of each group. Only the relevance rule of a subproblem is mutated in calibration.py.
GROUPS = {
    "proofs": (
        "proof_checker.py",
        "bounds/exported_proof.py",
        "bounds/proof_table.py",
        "bounds/rational.py",
        "bounds/solver/proofs.py",
    ),
    "classes": ("relevance.py", "bounds/calibration.py"),
    "checkpoints": ("checkpoints/file.py", "checkpoints/content.py"),
}
CLASS_OF_FILE = {"bounds/calibration.py": "FittedCalibration"}

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")

# SQL ignores the case of its keywords and names.
SQL = ("PRAGMA", "SELECT", "INSERT", "BEGIN", "ROLLBACK", "locking_mode = EXCLUSIVE")

NOT_KILLED = {"survived", "no tests", "not checked", "suspicious"}


def mutants_of(file: str) -> list[str]:
    """Return the names of all mutants of a file."""
    path = SOURCE / file
    mutated = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
    names = [get_mutant_name(path, name) for name in mutated.mutant_names]
    return [name for name in names if CLASS_OF_FILE.get(file, "") in name]


def sample(group: str, n: int, seed: int) -> tuple[dict[str, Path], int]:
    """Return the file of each mutant of a group that is tested, and the number of all mutants."""
    mutants = {name: SOURCE / file for file in GROUPS[group] for name in mutants_of(file)}
    names = sorted(mutants)
    drawn = random.Random(seed).sample(names, min(n, len(names)))
    return {name: mutants[name] for name in drawn}, len(names)


def statuses(files: set[Path]) -> dict[str, str]:
    """Return the status of each mutant of some files after a run."""
    status: dict[str, str] = {}
    for file in files:
        data = SourceFileMutationData(path=file)
        data.load()
        status |= {name: status_by_exit_code[code] for name, code in data.exit_code_by_key.items()}
    return status


def change(name: str, file: Path) -> tuple[str, str]:
    """Return the changed lines of a mutant: as they were, and as they are."""
    lines = get_diff_for_mutant(name, path=file).splitlines()[2:]
    old = [line[1:].strip() for line in lines if line.startswith("-")]
    new = [line[1:].strip() for line in lines if line.startswith("+")]
    return " ".join(old), " ".join(new)


def is_sql_in_other_case(old: str, new: str) -> bool:
    return old.lower() == new.lower() and any(word in old for word in SQL)


def report(group: str, mutants: dict[str, Path], n_all: int) -> None:
    """Print how many mutants of a group were killed, and the survivors."""
    with EQUIVALENT.open("rb") as file:
        equivalent = {(entry["old"], entry["new"]) for entry in tomllib.load(file)["mutant"]}
    status = statuses(set(mutants.values()))
    alive = {name: change(name, mutants[name]) for name in mutants if status[name] in NOT_KILLED}
    survivors = {
        name: lines
        for name, lines in alive.items()
        if lines not in equivalent and not is_sql_in_other_case(*lines)
    }
    n, n_equivalent = len(mutants), len(alive) - len(survivors)
    killed = n - len(alive)
    print(
        f"{group}: {n} of {n_all} mutants tried, {killed} killed ({killed / n:.1%}), "
        f"{n_equivalent} equivalent, {len(survivors)} survived "
        f"({killed / (n - n_equivalent):.1%} killed of those that are not equivalent)"
    )
    for name, (old, new) in sorted(survivors.items()):
        print(f"  {name} ({status[name]})\n    - {old}\n    + {new}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", choices=GROUPS, action="append", help="groups (default: all)")
    parser.add_argument("--sample", type=int, default=400, help="mutants per group")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    args = parser.parse_args()
    shutil.rmtree("mutants", ignore_errors=True)
    drawn = {name: sample(name, args.sample, args.seed) for name in args.group or GROUPS}
    names = [name for mutants, _ in drawn.values() for name in mutants]
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", "1", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mutmut failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    for group, (mutants, n_all) in drawn.items():
        report(group, mutants, n_all)


if __name__ == "__main__":
    main()
