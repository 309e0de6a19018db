"""Time to fit the baseline on MADELON (2,000 x 500, C = 1), compared with HiGHS.

The classes are far from linearly separable.

usage: python -m benchmarks.madelon --data FOLDER (with madelon.npz)
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from allrelevant.bounds.programs.equivalent_models import baseline_program
from allrelevant.bounds.programs.hinge import HingeRows
from allrelevant.bounds.solver.l1 import L1Baseline, relative_gap

from .speed_cases import from_file
from .speed_run import warm_up

C = 1.0


def run_highs(rows: HingeRows, method: str) -> None:
    program = baseline_program(rows, C)
    start = time.perf_counter()
    result = linprog(
        program.cost,
        A_ub=-program.matrix,
        b_ub=-program.row_lower,
        bounds=np.column_stack([program.column_lower, program.column_upper]),
        method=method,
    )
    print(f"| {method} | {time.perf_counter() - start:.1f} | {result.fun:.8f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with madelon.npz")
    try:
        rows = from_file("madelon.npz", "train", parser.parse_args().data).rows
    except FileNotFoundError as error:
        print(f"Skipped: {error} is not in the data folder.")
        return
    warm_up()
    start = time.perf_counter()
    model = L1Baseline(rows).solve(C)
    seconds = time.perf_counter() - start
    cost = np.abs(model.coef).sum() + C * rows.loss(model.coef[None], model.offset[None])[0]
    print("| Method | Seconds | Cost |\n| --- | --- | --- |")
    print(f"| allrelevant | {seconds:.1f} | {cost:.8f} |", flush=True)
    run_highs(rows, "highs-ipm")
    run_highs(rows, "highs-ds")
    print(f"\nThe relative gap of `allrelevant` is {relative_gap(rows, C, model):.0e}.")


if __name__ == "__main__":
    main()
