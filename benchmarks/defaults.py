"""F1 scores for several values of norm_slack, loss_slack, n_probes and fpr.

Each combination is scored on data with known ground truth, with clean labels and with 10% of the
labels flipped. The seeds are not used by any other benchmark or test. For each pair of slacks, the
bounds of features and probes are computed once and used for all values of n_probes and fpr.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from joblib import Parallel, delayed

from allrelevant.bounds.baseline import FORMULATIONS, Tolerance
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.pipeline import BoundsSettings, fit_baselines
from allrelevant.bounds.probes import ProbeCalibration, upper_prediction_limit
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.bounds.task import Subproblem
from allrelevant.bounds.tuning import Tuning
from allrelevant.parallel import Job
from allrelevant.relevance import assign_classes
from allrelevant.terms.scaling import standard_scaling
from benchmarks.scores import class_scores
from benchmarks.sets import ESANN17, FEREL18, GENERAL

SETS = {**FEREL18, **ESANN17, **GENERAL}
FLIPS = (0.0, 0.1)
FIRST_SEED = 1000

SLACKS = [
    Tolerance(norm_slack, loss_slack, 1e-6)
    for norm_slack, loss_slack in [
        (0.001, 0.001), (0.01, 0.01), (0.05, 0.0), (0.05, 0.02), (0.05, 0.05),
        (0.1, 0.0), (0.1, 0.02), (0.1, 0.05), (0.1, 0.1), (0.2, 0.02),
    ]
]  # fmt: skip
N_PROBES = (20, 50, 100)
FPRS = (1e-3, 1e-4, 1e-6)


Scores = dict[tuple[Tolerance, int, float], dict[str, float]]


def score_instance(name: str, flip: float, seed: int) -> Scores:
    """Compute the F1 scores of all combinations of settings on one generated table."""
    data = SETS[name](flip=flip, random_state=seed)
    samples = ClassificationData(data.X, np.where(data.y == 1, 1.0, -1.0), np.ones(len(data.y)))
    probes = ProbeCalibration(max(N_PROBES), fpr=0.5, seed=seed)
    settings = BoundsSettings(
        C=None,
        tuning=Tuning(seed),
        formulation=FORMULATIONS["separate"],
        tolerance=SLACKS[0],
        calibration=probes,
        fit_scaling=standard_scaling,
        tol=1e-9,
        screen=False,
        test_seed=seed,
        n_jobs=1,
        job=Job(),
    )
    scaled = samples.scale(standard_scaling)
    (baseline,), _ = fit_baselines([Subproblem("", [samples])], scaled, settings)
    scores: Scores = {}
    for slack in SLACKS:
        models = baseline.formulation.equivalent_models(baseline, slack)
        interval = weight_ranges(models).interval
        bounds = probes.probe_bounds(baseline, slack)
        for n_probes, fpr in product(N_PROBES, FPRS):
            cutoff = upper_prediction_limit(bounds[:n_probes], fpr)
            is_strong, is_relevant = (interval > cutoff).T
            found = assign_classes(is_relevant, is_strong, np.zeros_like(is_strong))
            scores[slack, n_probes, fpr] = class_scores(data.relevance, found)
    return scores


def print_table(results: dict[float, list[Scores]]) -> None:
    print("| norm_slack | loss_slack | n_probes | fpr | ", end="")
    print(" | ".join(f"{kind}, {flip:.0%} flipped" for flip, kind in _columns()), "| mean |")
    print(f"|{' --- |' * (5 + len(_columns()))}")
    rows = []
    for slack, n_probes, fpr in product(SLACKS, N_PROBES, FPRS):
        means = [
            float(np.mean([scores[slack, n_probes, fpr][kind] for scores in results[flip]]))
            for flip, kind in _columns()
        ]
        rows.append((float(np.mean(means)), slack, n_probes, fpr, means))
    for mean, slack, n_probes, fpr, means in sorted(rows, key=lambda row: -row[0]):
        cells = " | ".join(f"{value:.3f}" for value in means)
        print(
            f"| {slack.norm_slack:g} | {slack.loss_slack:g} | {n_probes} | {fpr:g} | {cells} "
            f"| {mean:.3f} |"
        )


def _columns() -> list[tuple[float, str]]:
    return list(product(FLIPS, ("relevant", "strong", "weak")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="number of instances of each set")
    parser.add_argument("--jobs", type=int, default=2, help="number of worker processes")
    args = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    print(f"{len(SETS)} sets, {len(seeds)} instances of each, seeds from {FIRST_SEED}\n")
    results = {
        flip: Parallel(n_jobs=args.jobs)(
            delayed(score_instance)(name, flip, seed) for name, seed in product(SETS, seeds)
        )
        for flip in FLIPS
    }
    print_table(results)


if __name__ == "__main__":
    main()
