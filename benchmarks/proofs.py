"""Size of exported proofs, and the CPU time to export and to check them.

usage: python -m benchmarks.proofs [LEUKEMIA]

LEUKEMIA is a NumPy file (.npz) with X, of shape (72, 7129), and y. The proof covers the genes that
are relevant in the whole table, as a table of their own.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds
from allrelevant.proof_checker import verify


def measure(name: str, X: Any, y: Any, C: float) -> None:
    """Export and check the proof of a table, and print the result."""
    bounds = ClassificationBounds(C=C, cutoff=0.1, screen=False).fit(X, y)
    start = time.process_time()
    text = json.dumps(bounds.export_proof(X, y))
    exported = time.process_time()
    cells = {f"x{j}": column.tolist() for j, column in enumerate(X.T)}
    proven, failures = verify(json.loads(text), {**cells, "target": y.astype(float).tolist()})
    checked = time.process_time()
    ends = [[float(end) for end in ends] for ends in proven.values()]
    gap = max(max(low - least, most - high) for least, low, high, most in ends)
    print(
        f"{name}: {X.shape[0]} rows, {X.shape[1]} columns, {len(text) / 1e6:.1f} MB, exported in "
        f"{exported - start:.1f} s, checked in {checked - exported:.1f} s, {len(failures)} "
        f"failures, largest gap {gap:.1e}"
    )


def main() -> None:
    """Measure breast cancer and, if its file is given, leukemia."""
    X, y = load_breast_cancer(return_X_y=True)
    measure("breast cancer", X, y, C=0.1)
    if len(sys.argv) > 1:
        data = np.load(sys.argv[1])
        X, y = data["X"].astype(float), data["y"]
        bounds = ClassificationBounds(random_state=0).fit(X, y)
        assert bounds.baseline_.C_ is not None
        measure("leukemia", bounds.transform(X), y, C=float(bounds.baseline_.C_))


if __name__ == "__main__":
    main()
