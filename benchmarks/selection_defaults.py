"""Tables behind the defaults of the selectors.

``rules`` compares rules for the number of features on the development tables. ``candidates``
compares candidates for a more accurate default on the same tables. ``methods`` compares
selectors, with their former and their new defaults, with other methods on the confirmation tables.
``permuted`` reports the scores of all selectors for permuted classes.

Each result is stored in a file. To resume an interrupted benchmark, repeat the command.

usage: python -m benchmarks.selection_defaults --data FOLDER [--results FOLDER]
                                               [--part rules | candidates | methods | permuted]
                                               [--tables NAME ...] [--methods NAME ...]
                                               [--selectors NAME ...] [--seeds SEED ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, studentized_range, wilcoxon
from threadpoolctl import threadpool_limits

from allrelevant import SelectionStability

from .result_cache import load_or_compute
from .selection_candidates import CANDIDATES, PRESENT, compare_candidates
from .selection_evaluation import balanced_accuracies
from .selection_methods import METHODS, select
from .selection_permuted import N_PERMUTATIONS, SELECTORS, print_permuted
from .selection_rules import compare_rules
from .selection_tables import CONFIRMATION, DEVELOPMENT, TABLES, Table

N_OUTER_FOLDS = 3
RULE_SEEDS = (0, 1)
DEFAULT_RULE = "best balanced accuracy, ties by margin; 1"

# Tables with permuted classes, half of them with more features than rows.
PERMUTED_TABLES = (
    "wine",
    "sonar",
    "parkinsons",
    "y is x",
    "wine spectra",
    "colon",
    "riboflavin",
    "pomeroy",
    "west",
    "leukemia",
)
RULE_PAIRS = (
    ("best AUC, ties by margin; 1", DEFAULT_RULE),
    ("best margin; 1", DEFAULT_RULE),
    ("best balanced accuracy, ties by margin; 3", DEFAULT_RULE),
    ("best accuracy, smallest; 1", DEFAULT_RULE),
    ("one standard error, balanced accuracy; 1", DEFAULT_RULE),
)
METHOD_PAIRS = (
    ("SVMRFE", "SVMRFE, former defaults"),
    ("EBRFE", "EBRFE, former defaults"),
    ("SaliencySelector", "SaliencySelector, half"),
    ("SVMRFE, one_se", "SVMRFE"),
    ("SVMRFE", "RFECV, its defaults"),
    ("EBRFE", "RFECV, its defaults"),
    ("SVMRFE", "RFECV"),
    ("SVMRFE, candidate", "SVMRFE"),
    ("SVMRFE, candidate", "RFECV"),
    ("SVMRFE, candidate", "l1-penalized SVM"),
    ("SVMRFE, steps of RFECV", "SVMRFE"),
    ("SVMRFE, steps of RFECV", "RFECV"),
    ("EBRFE", "RFECV"),
    ("SVMRFE", "l1-penalized SVM"),
    ("EBRFE", "l1-penalized SVM"),
)

# Development tables on which class weights were compared.
WEIGHTED_TABLES = (
    "five classes",
    "musk1, 40 positives",
    "wine",
    "leukemia",
    "colon",
    "spambase, 600 rows",
    "west",
)

# Results of one table: one dict per outer fold, by method or rule.
Results = Mapping[str, Sequence[Mapping[str, Any]]]


def compare_methods(
    name: str, table: Table, folder: Path, methods: Sequence[str], seeds: Sequence[int]
) -> Results:
    """Return, for each method, the evaluation in each outer fold of each seed."""
    results: dict[str, list[dict[str, Any]]] = {}
    outer_folds = [
        (f"{seed}-{number}", train, test)
        for seed in seeds
        for number, (train, test) in enumerate(table.outer_folds(N_OUTER_FOLDS, seed))
    ]
    for number, train, test in outer_folds:
        for method in methods:
            stem = f"methods-{name}-{method}-{number}".replace(" ", "_")

            def compute(
                method: str = method, train: np.ndarray = train, test: np.ndarray = test
            ) -> dict[str, Any]:
                groups = None if table.groups is None else table.groups[train]
                start = time.process_time()
                chosen = select(method, table.X[train], table.y[train], groups)
                seconds = time.process_time() - start
                features = np.flatnonzero(chosen)
                return {
                    "accuracies": balanced_accuracies(table.X, table.y, train, test, features),
                    "features": features.tolist(),
                    "seconds": seconds,
                }

            result = load_or_compute(folder / f"{stem}.json", compute)
            results.setdefault(method, []).append(result)
    return results


def mean_accuracy(folds: Sequence[Mapping[str, Any]]) -> float:
    """Return the balanced accuracy, averaged over evaluation models and outer folds."""
    return float(np.mean([fold["accuracies"] for fold in folds]))


def print_table(results: Mapping[str, Results], tables: Mapping[str, Table], title: str) -> None:
    """Print mean accuracies, ranks, numbers of features, stabilities and times."""
    rows = list(next(iter(results.values())))
    accuracy = np.array([[mean_accuracy(results[t][row]) for row in rows] for t in results])
    ranks = np.array([rankdata(-np.round(values, 9)) for values in accuracy]).mean(axis=0)
    sizes, stabilities, seconds = np.zeros((3, len(results), len(rows)))
    for i, name in enumerate(results):
        n_features = tables[name].X.shape[1]
        for j, row in enumerate(rows):
            folds = results[name][row]
            chosen = [np.isin(np.arange(n_features), fold["features"]) for fold in folds]
            sizes[i, j] = np.mean([mask.sum() for mask in chosen])
            stabilities[i, j] = SelectionStability(np.array(chosen)).nogueira
            seconds[i, j] = np.mean([fold.get("seconds", np.nan) for fold in folds])
    timed = bool(np.isfinite(seconds).all())
    header = f"| {title} | mean rank | balanced accuracy | features, median | stability |"
    print(f"\n{header}{' CPU time |' * timed}\n| --- | --- | --- | --- | --- |{' --- |' * timed}")
    for j in np.argsort(ranks, kind="stable"):
        print(
            f"| {rows[j]} | {ranks[j]:.1f} | {accuracy[:, j].mean():.3f} "
            f"| {np.median(sizes[:, j]):.0f} | {stabilities[:, j].mean():.2f} |"
            f"{f' {seconds[:, j].mean():.1f} s |' * timed}"
        )
    critical = critical_difference(len(rows), len(results))
    print(f"\nCritical difference of mean ranks (Nemenyi test, 5% level): {critical:.1f}")
    if not timed:  # rules are too many for a table with a column for each of them
        return
    print(f"\n| table | {' | '.join(rows)} |")
    print(f"| --- |{' --- |' * len(rows)}")
    for i, name in enumerate(results):
        cells = [f"{accuracy[i, j]:.3f} ({sizes[i, j]:.0f})" for j in range(len(rows))]
        shape = "{:,} x {:,}".format(*tables[name].X.shape)
        print(f"| {name}, {shape} | {' | '.join(cells)} |")


def critical_difference(n_methods: int, n_tables: int) -> float:
    """Return the difference of mean ranks that is significant at the 5% level (Nemenyi test)."""
    quantile = float(studentized_range.ppf(0.95, n_methods, np.inf)) / np.sqrt(2)
    return quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tables))


def print_differences(results: Mapping[str, Results], pairs: Sequence[tuple[str, str]]) -> None:
    """Print the mean difference in accuracy of pairs of methods, with Wilcoxon's test."""
    print("\n| methods | mean difference | standard error | better on | p |")
    print("| --- | --- | --- | --- | --- |")
    for first, second in pairs:
        if not all({first, second} <= set(by_method) for by_method in results.values()):
            continue
        values = np.array(
            [
                mean_accuracy(found[first]) - mean_accuracy(found[second])
                for found in results.values()
            ]
        )
        error = values.std(ddof=1) / np.sqrt(len(values))
        print(
            f"| {first} - {second} | {values.mean():+.3f} | {error:.3f} "
            f"| {(values > 0).sum()} of {len(values)} | {wilcoxon(values).pvalue:.2g} |"
        )


def print_class_weights(tables: Mapping[str, Table], folder: Path) -> None:
    """Print the balanced accuracy of the default rule with and without balanced class weights."""
    print("\n| table | fraction of the rarest class | balanced class weights | equal weights |")
    print("| --- | --- | --- | --- |")
    for name in WEIGHTED_TABLES:
        table = tables[name]
        weighted = compare_rules(name, table, folder, 0, "balanced")
        equal = compare_rules(name, table, folder, 0, None)
        accuracies = [mean_accuracy(results[DEFAULT_RULE]) for results in (weighted, equal)]
        fraction = np.unique(table.y, return_counts=True)[1].min() / len(table.y)
        print(f"| {name} | {100 * fraction:.0f}% | {accuracies[0]:.3f} | {accuracies[1]:.3f} |")


def print_rules(tables: Mapping[str, Table], folder: Path) -> None:
    results: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, table in tables.items():
        results[name] = {}
        for seed in RULE_SEEDS:
            for rule, folds in compare_rules(name, table, folder, seed).items():
                results[name].setdefault(rule, []).extend(folds)
    print_table(results, tables, "rule; repetitions of the folds")
    print_differences(results, RULE_PAIRS)
    if set(WEIGHTED_TABLES) <= set(tables):
        print_class_weights(tables, folder)


def print_candidates(tables: Mapping[str, Table], folder: Path, seeds: Sequence[int]) -> None:
    results: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, table in tables.items():
        results[name] = {}
        for seed in seeds:
            for title, folds in compare_candidates(name, table, folder, seed).items():
                results[name].setdefault(title, []).extend(folds)
    print_table(results, tables, "candidate; repetitions of the folds")
    if len(tables) > 2:
        print_differences(results, [(title, PRESENT) for title in CANDIDATES if title != PRESENT])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the tables")
    parser.add_argument("--results", type=Path, default=Path("selection-checkpoints"))
    parser.add_argument(
        "--part", choices=["rules", "candidates", "methods", "permuted"], default="methods"
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=list(SELECTORS))
    parser.add_argument("--seeds", nargs="+", type=int, help="of outer folds or permutations")
    args = parser.parse_args()
    args.results.mkdir(exist_ok=True)
    defaults = {
        "rules": DEVELOPMENT,
        "candidates": DEVELOPMENT,
        "methods": CONFIRMATION,
        "permuted": PERMUTED_TABLES,
    }
    tables = {name: TABLES[name](args.data) for name in args.tables or defaults[args.part]}
    with threadpool_limits(1):
        if args.part == "rules":
            print_rules(tables, args.results)
        elif args.part == "candidates":
            print_candidates(tables, args.results, args.seeds or RULE_SEEDS)
        elif args.part == "permuted":
            print_permuted(
                tables, args.results, args.selectors, args.seeds or range(N_PERMUTATIONS)
            )
        else:
            found = {
                name: compare_methods(name, table, args.results, args.methods, args.seeds or [0])
                for name, table in tables.items()
            }
            print_table(found, tables, "method")
            if len(found) > 2:
                print_differences(found, METHOD_PAIRS)


if __name__ == "__main__":
    main()
