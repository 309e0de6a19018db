"""Feature selection with knockpy 1.3.5 and hidimstat 0.4.0 in a separate environment.

hidimstat requires packaging, which it does not declare.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .interface import Chosen, Classes, NotInstalledError, Table

ROOT = Path(__file__).parent.parent.parent
PYTHON = ROOT / ".calibration-env" / "bin" / "python"
PACKAGES = ("knockpy==1.3.5", "hidimstat==0.4.0", "packaging")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def install() -> None:
    """Create the environment of knockpy and hidimstat on first use, which takes a minute."""
    if PYTHON.exists():
        return
    print("Installing knockpy and hidimstat in .calibration-env ...", file=sys.stderr, flush=True)
    environment = PYTHON.parent.parent
    try:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    except subprocess.CalledProcessError as error:
        PYTHON.unlink(missing_ok=True)
        raise NotInstalledError(
            "knockpy and hidimstat could not be installed. "
            "Check that a package index can be reached."
        ) from error


def select_all(
    X: Table, y: Classes, *, seed: int, only: str | None = None
) -> dict[str, tuple[Chosen, float]]:
    """Return the selected features and the CPU time of each knockpy and hidimstat method.

    With ``only``, a single method runs once, so its time includes imports.
    """
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "table.npz", Path(folder) / "answer.npz"
        np.savez(table, X=X, y=y)
        script = Path(__file__).parent / "inference_selection.py"
        command = [str(p) for p in (PYTHON, "-W", "ignore", script, table, answer, seed)]
        command += [] if only is None else [only]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD)
        if done.returncode:
            raise RuntimeError(f"knockpy or hidimstat failed: {done.stderr.strip()}")
        result = np.load(answer)
        values = zip(result["names"], result["chosen"], result["seconds"], strict=True)
        return {str(name): (chosen, float(seconds)) for name, chosen, seconds in values}
