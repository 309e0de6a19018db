"""Optimism of the scores of minimum-cost feature sets, measured with permuted labels.

The labels of the breast cancer data are permuted, so no model can do better than a constant
prediction on new rows. The cross-validated score of the cheapest set is compared with its held-out
score, for which the set is chosen separately in each fold.

usage: python -m benchmarks.cheapest_score [--seeds 10]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds

# Numbers of rows, drawn with half of them from each class.
N_ROWS = (40, 80, 160)

# The value of C is given, because cross-validation chooses models without features for many of the
# permuted tables.
C_PER_ROW = 100.0


def draw_table(n_rows: int, seed: int, *, permute: bool) -> tuple[Any, Any]:
    """Return random rows of the breast cancer data, with equally many rows per class."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.RandomState(seed)
    members = [rng.choice(np.flatnonzero(y == label), n_rows // 2, False) for label in (0, 1)]
    rows = np.concatenate(members)
    return X[rows], rng.permutation(y[rows]) if permute else y[rows]


def measure(n_rows: int, seed: int, *, permute: bool) -> list[float]:
    """Return the score and held-out score of a minimum-cost set, and the baseline's score."""
    X, y = draw_table(n_rows, seed, permute=permute)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no evidence in permuted tables
        est = ClassificationBounds(C=C_PER_ROW / n_rows, random_state=seed).fit(X, y)
    design = est.cheapest(held_out_score=True, max_seconds=60)
    assert design.held_out_score is not None
    return [design[0].score, design.held_out_score, design.baseline_score]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    n_seeds = parser.parse_args().seeds
    print("| Labels | Rows | Cheapest set | Cheapest set, held-out | All features |")
    print("| --- | --- | --- | --- | --- |")
    for permute in (True, False):
        for n_rows in N_ROWS:
            scores = np.array([measure(n_rows, seed, permute=permute) for seed in range(n_seeds)])
            error = scores.std(axis=0, ddof=1) / np.sqrt(n_seeds)
            cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(scores.mean(axis=0), error, strict=True)]
            labels = "permuted" if permute else "original"
            print(f"| {labels} | {n_rows} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
