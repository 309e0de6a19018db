"""Scores that selectors report for tables with permuted classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.svm import SVC

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip, SaliencySelector

from .result_cache import load_or_compute
from .selection_tables import Table

SEEDS = (0, 1, 2)

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
    if held_out is None:
        return {"score": model.best_score_, "error": float(model.score_errors_.max())}
    return {"score": held_out.score, "error": held_out.standard_error}


def print_permuted(tables: Mapping[str, Table], folder: Path) -> None:
    """Print the mean reported score over seeds, and its distance from chance in standard errors.

    The standard error of the mean is that of the seeds.
    """
    print(f"\n| table | chance | {' | '.join(SELECTORS)} |")
    print(f"| --- | --- |{' --- |' * len(SELECTORS)}")
    distances: dict[str, list[float]] = {name: [] for name in SELECTORS}
    for title, table in tables.items():
        chance = 1.0 / len(np.unique(table.y))
        cells = []
        for name, selector in SELECTORS.items():
            found = []
            for seed in SEEDS:
                path = folder / f"permuted-{title}-{name}-{seed}.json".replace(" ", "_")
                found.append(load_or_compute(path, partial(reported, selector, table, seed)))
            score = float(np.mean([result["score"] for result in found]))
            error = float(np.sqrt(np.mean([r["error"] ** 2 for r in found]) / len(found)))
            distances[name].append((score - chance) / error if error > 0 else np.inf)
            cells.append(f"{score:.3f} ({distances[name][-1]:+.1f})")
        print(f"| {title} | {chance:.3f} | {' | '.join(cells)} |", flush=True)
    within = [sum(abs(d) <= 2 for d in distances[name]) for name in SELECTORS]
    print(f"| within two standard errors | | {' | '.join(map(str, within))} |")
