"""120 commands on read-only mounts: home, installation, temporary, working and output folders.

Each command runs in a mount namespace of its own, in which some folders are read-only also for
root. It succeeds unless it has to write to one of them; then it ends with one line.
"""

import ctypes
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import allrelevant
from allrelevant.datasets import make_linear_classification

from .forked import report_failures, start_command
from .test_commands import preload

N_CASES = int(os.environ.get("ALLRELEVANT_CAMPAIGN_MOUNTS", "120"))

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
PROBE = "mount --make-rprivate / && mount --bind /mnt /mnt && mount -o remount,bind,ro /mnt"

COMMANDS = (
    ["report", "in/table.csv", "--target", "y", "-o", "{}/page.html"],
    ["report", "in/table.csv", "--target", "y", "-o", "{}/page.html", "--proof", "{}/proof.json"],
    ["report", "in/table.csv", "--target", "y", "-q", "--json", "{}/result.json"],
    ["report", "in/table.csv", "--target", "y", "--jobs", "2", "-o", "{}/page.html"],
    ["select", "in/table.csv", "--target", "y", "--no-bounds", "-o", "{}/page.html"],
    ["select", "in/table.csv", "--target", "y", "--method", "svmrfe", "--no-bounds", "-o",
     "out/page.html", "--checkpoint", "{}/run.ckpt"],
    ["explain", "in/table.csv", "--target", "y", "--row", "1", "-o", "{}/page.html"],
)  # fmt: skip

FOLDERS = ("home", "installation", "temporary", "in", "out", ".")


def can_mount():
    """Return whether this process may make folders read-only in a namespace of its own."""
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", PROBE], capture_output=True, check=False
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not can_mount(), reason="requires Linux and permission to mount"
)


@dataclass(frozen=True)
class Case:
    """Command and the folders that are read-only."""

    command: list[str]
    read_only: list[str]

    @classmethod
    def from_seed(cls, seed):
        rng = random.Random(seed)
        place = rng.choice(["out", "."])
        command = [word.format(place) for word in rng.choice(COMMANDS)]
        return cls(command, [name for name in FOLDERS if rng.random() < 0.4])

    @property
    def is_possible(self):
        """Whether all files of the command can be written."""
        written = [Path(word).parent for word in self.command if "/" in word and "in/" not in word]
        return not any(
            str(folder) in self.read_only or ("." in self.read_only and folder != Path("out"))
            for folder in written
        )


def make_read_only(folders):
    """Make folders read-only in a mount namespace of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    script = "mount --make-rprivate /\n" + "".join(
        f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,{mode} '{folder}'\n"
        for folder, mode in folders
    )
    subprocess.run(["sh", "-ec", script], check=True)


def problem_of(case, folder, folders):
    def prepare():
        # The output folder is within the working folder, and is mounted after it.
        names = (".", "out", "in", "home", "temporary", "installation")
        make_read_only(
            [
                (folders[name], "ro" if name in case.read_only else "rw")
                for name in names
                if name in case.read_only or (name == "out" and "." in case.read_only)
            ]
        )
        os.environ["HOME"], os.environ["TMPDIR"] = str(folders["home"]), str(folders["temporary"])
        tempfile.tempdir = None
        os.chdir(folder)  # into the mount

    outcome = start_command(case.command, folder, prepare).outcome(120)
    problem = outcome.problem()
    if problem is None and (outcome.code == 0) != case.is_possible:
        problem = f"exit code {outcome.code}: {outcome.stderr[-300:]!r}"
    if problem is None and any(path.name.startswith(".allrelevant") for path in folder.rglob("*")):
        problem = "a temporary file was left"
    return problem


def test_commands_on_read_only_mounts(tmp_path, capsys):
    preload()
    table = make_linear_classification(30, n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    lines = np.column_stack([table.X, table.y]).round(6).tolist()
    header = [f"x{j}" for j in range(table.X.shape[1])] + ["y"]
    text = "\n".join(",".join(map(str, row)) for row in [header, *lines])
    installation = Path(allrelevant.__file__).parent
    failures = {}
    for seed in range(N_CASES):
        folder, others = tmp_path / str(seed) / "work", tmp_path / str(seed)
        folders = {
            ".": folder,
            "in": folder / "in",
            "out": folder / "out",
            "home": others / "home",
            "temporary": others / "temporary",
            "installation": installation,
        }
        for name, path in folders.items():
            if name != "installation":
                path.mkdir(parents=True, exist_ok=True)
        (folder / "in" / "table.csv").write_text(text)
        case = Case.from_seed(seed)
        problem = problem_of(case, folder, folders)
        if problem is not None:
            failures[seed] = f"{case}: {problem}"
    with capsys.disabled():
        message = report_failures("read-only mounts", N_CASES, failures)
    assert not failures, message
