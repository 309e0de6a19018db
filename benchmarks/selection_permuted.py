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

# Permutations of the classes, unless others are requested.
N_PERMUTATIONS = 8

# Factor by which reported standard errors exceed those that ignore the overlap of training rows,
# for five folds.
CORRECTION = np.sqrt(5 * (1 / 5 + 1 / 4))

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
    """Fit a selector to permuted classes; return the score that it reports and its error."""
    permuted = table.permuted(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = selector.set_params(random_state=seed).fit(permuted.X, permuted.y)
    held_out = getattr(model, "held_out_score_", None)
    if held_out is None:
        return {"score": model.best_score_}
    return {"score": held_out.score, "standard_error": held_out.standard_error}


def print_permuted(
    tables: Mapping[str, Table], folder: Path, selectors: Sequence[str], seeds: Sequence[int]
) -> None:
    """Print the mean reported score minus chance, and the same in standard errors.

    The standard error is that of the mean over the permutations. The second table compares the
    standard deviation over the permutations with the standard errors that single runs report.
    """
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for title, table in tables.items():
        found[title] = {}
        for name in selectors:
            for seed in seeds:
                path = folder / f"permuted-{title}-{name}-{seed}.json".replace(" ", "_")
                compute = partial(reported, SELECTORS[name], table, seed)
                found[title].setdefault(name, []).append(load_or_compute(path, compute))
    _print_differences(tables, found)
    _print_errors(tables, found)


Found = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]


def _print_differences(tables: Mapping[str, Table], found: Found) -> None:
    names = list(next(iter(found.values())))
    print(f"\n| table | chance | {' | '.join(names)} |")
    print(f"| --- | --- |{' --- |' * len(names)}")
    differences: dict[str, list[float]] = {name: [] for name in names}
    n_within = dict.fromkeys(names, 0)
    for title, table in tables.items():
        cells = []
        for name, results in found[title].items():
            values = np.array([result["score"] for result in results]) - chance(table)
            difference, error = float(values.mean()), standard_error(values)
            distance = difference / error if error > 0 else np.inf
            differences[name].append(difference)
            n_within[name] += abs(distance) <= 2
            cells.append(f"{difference:+.3f} ({distance:+.1f})")
        print(f"| {shape_of(title, table)} | {chance(table):.3f} | {' | '.join(cells)} |")
    if len(tables) > 1:
        cells = [
            f"{np.mean(values):+.3f} ({np.mean(values) / standard_error(values):+.1f})"
            for values in differences.values()
        ]
        print(f"| mean | | {' | '.join(cells)} |")
    print(f"| tables within two standard errors | | {' | '.join(map(str, n_within.values()))} |")


def _print_errors(tables: Mapping[str, Table], found: Found) -> None:
    """Print the standard deviation of the scores and the error reported by single runs."""
    print("\n| table | selector | standard deviation | reported error | without the correction |")
    print("| --- | --- | --- | --- | --- |")
    for title, table in tables.items():
        for name, results in found[title].items():
            if not all("standard_error" in result for result in results):
                continue
            deviation = float(np.std([result["score"] for result in results], ddof=1))
            squares = np.square([result["standard_error"] for result in results])
            error = float(np.sqrt(squares.mean()))
            print(
                f"| {shape_of(title, table)} | {name} | {deviation:.3f} | {error:.3f} "
                f"| {error / CORRECTION:.3f} |"
            )


def chance(table: Table) -> float:
    return 1.0 / len(np.unique(table.y))


def shape_of(title: str, table: Table) -> str:
    return "{}, {:,} x {:,}".format(title, *table.X.shape)


def standard_error(values: Sequence[float] | np.ndarray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
