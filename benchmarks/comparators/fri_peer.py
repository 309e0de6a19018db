"""Feature selection with fri 9.0.0 in a separate Python environment.

fri requires NumPy 1 and packages that it does not declare.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .interface import Chosen, Classes, NotInstalledError, Table

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".fri-env" / "bin" / "python"
PACKAGES = ("fri==9.0.0", "importlib_metadata", "attrs")


def install() -> None:
    """Create the Python environment of fri on first use, which takes a minute."""
    if PYTHON.exists():
        return
    print("Installing fri in .fri-env ...", file=sys.stderr, flush=True)
    environment = PYTHON.parent.parent
    try:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    except subprocess.CalledProcessError as error:
        PYTHON.unlink(missing_ok=True)
        raise NotInstalledError(
            "fri 9.0.0 could not be installed. Check that a package index can be reached."
        ) from error


def fri(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select features with fri and its defaults, including the random hyperparameter search."""
    install()
    with tempfile.TemporaryDirectory() as folder:
        table, chosen = Path(folder) / "table.npz", Path(folder) / "chosen.npy"
        np.savez(table, X=X, y=y)
        script = Path(__file__).parent / "fri_selection.py"
        command = [str(part) for part in (PYTHON, script, table, chosen, seed)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"fri failed: {done.stderr.strip()}")
        return np.load(chosen)
