"""Survival bounds: F1 on known ground truth, and concordance compared with scikit-survival.

The first part generates tables with 30% censored rows and scores the relevance classes with default
settings. The second part needs an environment with scikit-survival, whose data sets and
`FastSurvivalSVM` it uses. Categories are one-hot encoded, and missing values are replaced by the
median or the most frequent category. Both models are fitted to the same folds of the same table.

usage: python -m benchmarks.survival truth
       python -m benchmarks.survival packages --python ENV/bin/python [--set flchain --tol 0.01]
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from allrelevant import RelevanceWarning, SurvivalBounds
from allrelevant.bounds.survival import comparable_pairs, encode_times
from allrelevant.datasets import make_survival

from .scores import class_scores

N_FOLDS = 5
SETS = ("veterans_lung_cancer", "whas500", "gbsg2", "flchain")
NOISES = (0.3, 0.0)
PACKAGES = Path(__file__).with_name("survival_packages.py")


def ground_truth(n_samples: int, n_seeds: int) -> None:
    """Print the mean F1 scores of the relevance classes over several tables per noise level."""
    print("| Rows | Noise of log time | F1 relevant | F1 strong | F1 weak | CPU s per fit |")
    print("| --- | --- | --- | --- | --- | --- |")
    for noise in NOISES:
        rows, seconds = [], []
        for seed in range(n_seeds):
            data = make_survival(n_samples, target_noise=noise, censored=0.3, random_state=seed)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RelevanceWarning)
                bounds = SurvivalBounds(random_state=seed).fit(data.X, data.y)
            seconds.append(time.process_time() - start)
            scores = class_scores(data.relevance, bounds.relevance_)
            rows.append([scores[name] for name in ("relevant", "strong", "weak")])
        means = " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
        print(f"| {n_samples} | {noise:g} | {means} | {np.mean(seconds):.1f} |", flush=True)


def compare(python: str, names: list[str], tol: float, max_seconds: float | None) -> None:
    """Print the concordance of both models on held-out folds, and the CPU time per fold.

    The time includes the choice of the regularization, and all bounds but no calibration for
    `SurvivalBounds`. ``tol`` is the gap of the bounds; the concordance does not depend on it.
    ``max_seconds`` limits the time per fold. The concordance depends on it only if the limit is
    reached before the baseline is fitted.
    """
    print(
        "| Data set | Rows | Columns | Censored | Comparable pairs | Baseline | FastSurvivalSVM "
        "| Difference | CPU s | CPU s, FastSurvivalSVM |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.npz"
            subprocess.run([python, str(PACKAGES), name, str(N_FOLDS), str(table)], check=True)
            data = np.load(table)
        X, event, days = data["X"], data["event"], data["time"]
        y = np.column_stack([event, days])
        scores, seconds = [], []
        for fold in range(N_FOLDS):
            train = data["fold"] != fold
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RelevanceWarning)
                bounds = SurvivalBounds(
                    random_state=0, cutoff=0.0, tol=tol, max_seconds=max_seconds
                ).fit(X[train], y[train])
            seconds.append(time.process_time() - start)
            scores.append(bounds.score(X[~train], y[~train]))
        n_pairs = comparable_pairs(encode_times(event, days)).n_pairs
        ours, theirs = np.mean(scores), np.mean(data["concordance"])
        print(
            f"| {name} | {len(X)} | {X.shape[1]} | {1 - event.mean():.0%} | {n_pairs:,} "
            f"| {ours:.3f} | {theirs:.3f} | {ours - theirs:+.3f} "
            f"| {np.mean(seconds):.1f} | {np.mean(data['seconds']):.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["truth", "packages"])
    parser.add_argument("--python", help="interpreter of an environment with scikit-survival")
    parser.add_argument("--set", choices=SETS, help="compare on this data set only")
    parser.add_argument("--rows", type=int, default=300, help="rows of the generated tables")
    parser.add_argument("--seeds", type=int, default=10, help="number of generated tables")
    parser.add_argument("--tol", type=float, default=1e-4, help="gap of the bounds (packages)")
    parser.add_argument("--max-seconds", type=float, help="time limit per fold (packages)")
    options = parser.parse_args()
    if options.part == "truth":
        ground_truth(options.rows, options.seeds)
    elif options.python is None:
        parser.error("packages requires --python")
    else:
        names = [options.set] if options.set else list(SETS)
        compare(options.python, names, options.tol, options.max_seconds)


if __name__ == "__main__":
    main()
