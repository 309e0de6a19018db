"""Many rows: CPU seconds of the interior-point method and of the simplex method, and whole fits.

usage: python -m benchmarks.tall [programs | fits] [--sample N]

``programs`` solves the LPs of all features on one core, at gaps of 1e-4 and 1e-9 of the norm. The
simplex method solves a random sample of N extremes from the same baseline, and its time is
extrapolated to all. ``fits`` runs whole fits with the default settings, one worker.

CPU seconds are stated, because they depend less on the load of the computer than the clock does.
Compare only times of one run. Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from allrelevant import ClassificationBounds
from allrelevant.bounds.baseline import SEPARATE
from allrelevant.bounds.programs.equivalent_models import EquivalentModels
from allrelevant.bounds.solver.interface import Extreme, ExtremeSolver
from allrelevant.bounds.solver.interior import InteriorSolver
from allrelevant.bounds.solver.proofs import check_solutions, largest_norm
from allrelevant.bounds.solver.ranges import SolverFactory
from allrelevant.bounds.solver.simplex import SimplexSolver
from allrelevant.datasets import make_linear_classification

from .speed_cases import WIDE, generated

# Rows, features, and C times the number of rows.
PROGRAMS = (
    (5_000, 60, 30),
    (20_000, 60, 30),
    (50_000, 60, 30),
    (50_000, 60, 300),
    (100_000, 20, 30),
    (20_000, 200, 30),
    (20_000, 200, 300),
    (5_000, 200, 100),
)
FITS = ((5_000, 60), (100_000, 20), (50_000, 60), (20_000, 200))
TOLERANCES = (1e-4, 1e-9)


def solve(
    models: EquivalentModels, make_solver: SolverFactory, extremes: list[Extreme]
) -> tuple[float, np.ndarray, np.ndarray, ExtremeSolver]:
    """Return CPU seconds per LP, attained weights, gaps relative to the norm, and the solver."""
    start = time.process_time()
    solver = make_solver(models)
    solutions = solver(extremes)
    seconds = (time.process_time() - start) / len(extremes)
    check = check_solutions(models, extremes, solutions)
    return seconds, check.attained, check.gap / largest_norm(models), solver


def compare_programs(n: int, d: int, scaled_C: float, n_sample: int) -> str:
    """Return a row of the table of LPs."""
    baseline = SEPARATE.fit(generated(n, d, 0.1, None), scaled_C / n)
    models = SEPARATE.equivalent_models(baseline, WIDE)
    extremes = [Extreme.of_weight(j, sign) for sign in (-1, 1) for j in range(d)]
    sample = np.random.RandomState(0).choice(len(extremes), n_sample, replace=False)
    former, expected, _, _ = solve(models, SimplexSolver, [extremes[e] for e in sample])
    cells = [f"{n:,} x {d}", f"{scaled_C:g}", f"{former * len(extremes):.1f}"]
    for tol in TOLERANCES:
        seconds, attained, gap, solver = solve(models, partial(InteriorSolver, tol=tol), extremes)
        difference = np.abs(attained[sample] - expected).max() / largest_norm(models)
        cells += [
            f"{seconds * len(extremes):.2f} ({former / seconds:.0f} x)",
            f"{gap.max():.0e}, {difference:.0e}, {solver.effort.fallbacks}",
        ]
    return f"| {' | '.join(cells)} |"


def fit(n: int, d: int) -> str:
    """Return a row of the table of whole fits."""
    data = make_linear_classification(
        n, n_strong=5, n_weak=10, n_irrelevant=d - 15, flip=0.1, random_state=0
    )
    start = time.process_time()
    est = ClassificationBounds(random_state=0).fit(data.X, data.y)
    seconds = time.process_time() - start
    n_wrong = int((est.get_support() != (np.arange(d) < 15)).sum())
    gap = est.gap_.max() / est.baseline_.norm_
    return f"| {n:,} x {d} | {seconds:.1f} | {gap:.0e} | {n_wrong} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("programs", "fits"))
    parser.add_argument("--sample", type=int, default=6, help="extremes of the simplex method")
    args = parser.parse_args()
    if args.part != "fits":
        columns = [f"gap {tol:g} | worst gap, difference, fallbacks" for tol in TOLERANCES]
        print(f"| Table | C n | Simplex (extrapolated) | {' | '.join(columns)} |")
        print("| --- " * 7 + "|")
        for case in PROGRAMS:
            print(compare_programs(*case, args.sample), flush=True)
    if args.part != "programs":
        print("\n| Table | CPU seconds of a fit | Largest gap | Wrong features |")
        print("| --- " * 4 + "|")
        for shape in FITS:
            print(fit(*shape), flush=True)


if __name__ == "__main__":
    main()
