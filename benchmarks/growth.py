"""Time per LP for growing numbers of rows and features, compared with warm-started HiGHS.

This script prints the times and draws them in docs/images/growth.svg.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from allrelevant.bounds.baseline import FORMULATIONS
from allrelevant.bounds.solver.highs import HighsSolver
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.bounds.solver.simplex import SimplexSolver

from .speed_cases import WIDE, generated
from .speed_run import compile_solver

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "growth.svg"

# Numbers of rows with 20 features, and numbers of features with 100 rows. HiGHS is measured up to
# the size at which it takes seconds.
ROWS, HIGHS_ROWS = (500, 2_000, 8_000, 32_000, 100_000), 2_000
FEATURES, HIGHS_FEATURES = (30, 100, 300, 1_000, 3_000, 10_000), 10_000

NAMES = {SimplexSolver: "allrelevant", HighsSolver: "HiGHS, warm start"}

Points = list[tuple[int, float]]


def seconds_per_lp(n: int, d: int, solver: Any) -> float:
    samples = generated(n, d, 0.1, None)
    baseline = FORMULATIONS["separate"].fit(samples, 30 / n)
    models = FORMULATIONS["separate"].equivalent_models(baseline, WIDE)
    features = [0, 5, d - 1]  # a strong, a weak and an irrelevant feature
    start = time.perf_counter()
    weight_ranges(models, features, solver=solver)
    return (time.perf_counter() - start) / (2 * len(features))


def measure(sizes: list[tuple[int, int]], solver: Any, varying: int) -> Points:
    points = []
    for shape in sizes:
        points.append((shape[varying], seconds_per_lp(*shape, solver)))
        print(f"| {NAMES[solver]} | {shape[0]:,} x {shape[1]:,} | {points[-1][1]:.2g} |")
    return points


def main() -> None:
    compile_solver()
    print("| Method | Table | Seconds per LP |\n| --- | --- | --- |")
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    rows = [(n, 20) for n in ROWS]
    features = [(100, d) for d in FEATURES]
    curves = [
        (axes[0], 0, rows, [size for size in rows if size[0] <= HIGHS_ROWS]),
        (axes[1], 1, features, [size for size in features if size[1] <= HIGHS_FEATURES]),
    ]
    for ax, varying, sizes, highs_sizes in curves:
        ours = measure(sizes, SimplexSolver, varying)
        highs = measure(highs_sizes, HighsSolver, varying)
        ax.loglog(*zip(*highs, strict=True), "o--", color="0.55", label=NAMES[HighsSolver])
        ax.loglog(*zip(*ours, strict=True), "o-", color="#0b6e99", label=NAMES[SimplexSolver])
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(xlabel="rows (20 features)", ylabel="seconds per LP")
    axes[1].set(xlabel="features (100 rows)")
    axes[1].legend(frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
