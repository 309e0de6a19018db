"""Scores that selectors report for tables with permuted classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.svm import SVC

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip, SaliencySelector

from .result_cache import load_or_compute
from .selection_tables import Table

# Permutations of the classes. The standard error of a reported score is that of their mean.
SEEDS = range(8)

# Flips start from a few features. Their number of evaluations is limited, because each evaluation
# is repeated in every fold.
SELECTORS: dict[str, Any] = {
    "SVMRFE": SVMRFE(),
    "SVMRFE, one_se": SVMRFE(n_features_to_select="one_se"),
    "EBRFE": EBRFE(),
    "BitFlip": BitFlip(SelectKBest(k=5), max_evaluations=200),
    "AttributeFlip": AttributeFlip(SelectKBest(k=5), max_evaluations=200),
    "SaliencySelector": SaliencySelector(SVC()),
    "SVMRFE, ranked once": SVMRFE(repeat_in_folds=False),
}


def reported(selector: Any, table: Table, seed: int) -> dict[str, Any]:
    """Fit a selector to permuted classes; return the score that it reports."""
    permuted = table.permuted(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = selector.set_params(random_state=seed).fit(permuted.X, permuted.y)
    held_out = getattr(model, "held_out_score_", None)
    return {"score": model.best_score_ if held_out is None else held_out.score}


def print_permuted(tables: Mapping[str, Table], folder: Path) -> None:
    """Print the mean reported score minus chance, and the same in standard errors."""
    print(f"\n| table | chance | {' | '.join(SELECTORS)} |")
    print(f"| --- | --- |{' --- |' * len(SELECTORS)}")
    differences: dict[str, list[float]] = {name: [] for name in SELECTORS}
    n_within = dict.fromkeys(SELECTORS, 0)
    for title, table in tables.items():
        chance = 1.0 / len(np.unique(table.y))
        cells = []
        for name, selector in SELECTORS.items():
            scores = []
            for seed in SEEDS:
                path = folder / f"permuted-{title}-{name}-{seed}.json".replace(" ", "_")
                found = load_or_compute(path, partial(reported, selector, table, seed))
                scores.append(found["score"])
            difference, error = float(np.mean(scores)) - chance, standard_error(scores)
            distance = difference / error if error > 0 else np.inf
            differences[name].append(difference)
            n_within[name] += abs(distance) <= 2
            cells.append(f"{difference:+.3f} ({distance:+.1f})")
        shape = "{:,} x {:,}".format(*table.X.shape)
        print(f"| {title}, {shape} | {chance:.3f} | {' | '.join(cells)} |", flush=True)
    cells = [
        f"{np.mean(values):+.3f} ({np.mean(values) / standard_error(values):+.1f})"
        for values in differences.values()
    ]
    print(f"| mean | | {' | '.join(cells)} |")
    print(f"| tables within two standard errors | | {' | '.join(map(str, n_within.values()))} |")


def standard_error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
