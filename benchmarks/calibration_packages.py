"""False discoveries, power and CPU time of relevance classes, compared with other packages.

All methods use the same standardized tables and one core. BorutaPy uses the random forest of its
example. The methods have different error rates: `allrelevant` and the Benjamini-Hochberg procedures
(BH) control the false discovery rate at 0.05, knockpy at 0.2. BorutaPy corrects its tests at level
0.05. knockpy and hidimstat are installed in a separate environment, `.calibration-env`, on first
use.

The column "false" is the mean false discovery proportion. For noise, this is the fraction of tables
with any selected feature. Standard errors are in parentheses.

usage: python -m benchmarks.calibration_packages [--tables N] [--first-seed SEED]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import false_discovery_control, ttest_ind
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from allrelevant import ClassificationBounds
from allrelevant._params import CutoffName
from benchmarks.calibration import FIRST_SEED, is_relevant, mean_and_error, print_head, print_row
from benchmarks.calibration_designs import BALANCED_NOISE, Design, Generator, known_nulls
from benchmarks.comparators.forests import boruta
from benchmarks.comparators.inference_peer import install, select_all
from benchmarks.comparators.interface import Chosen, Classes, NotInstalledError, Table

NULLS = ("breast cancer, 8 columns, one-hot noise", "150 x 40, 20% flipped")
DESIGNS: dict[str, Generator] = {
    "noise, copies": BALANCED_NOISE["copies"],
    **{name: known_nulls(None)[name] for name in NULLS},
}

Select = Callable[[Table, Classes, int], Chosen]
# Selected features and CPU seconds of each method.
Answers = dict[str, tuple[Chosen, float]]


def our_classes(rule: CutoffName) -> Select:
    def select(X: Table, y: Classes, seed: int) -> Chosen:
        bounds = ClassificationBounds(cutoff=rule, random_state=seed).fit(X, y)
        return is_relevant(bounds.relevance_)

    return select


def select_by_forest(X: Table, y: Classes, seed: int) -> Chosen:
    return boruta(X, y, folds=0, seed=seed)


def select_by_t_test(X: Table, y: Classes, seed: int) -> Chosen:
    pvalue = ttest_ind(X[y == 0], X[y == 1]).pvalue
    return np.asarray(false_discovery_control(pvalue)) <= 0.05


METHODS: dict[str, Select] = {
    'ours, cutoff="fdr"': our_classes("fdr"),
    'ours, cutoff="probes"': our_classes("probes"),
    "BorutaPy": select_by_forest,
    "t-test, BH 0.05": select_by_t_test,
}


def run_table(design: Design, seed: int, has_others: bool) -> Answers:
    """Return the features that each method selects in one table, and the CPU times."""
    X = StandardScaler().fit_transform(design.X)
    answers: Answers = {}
    for name, select in METHODS.items():
        start = time.process_time()
        chosen = select(X, design.y, seed)
        answers[name] = (chosen, time.process_time() - start)
    return answers | (select_all(X, design.y, seed=seed) if has_others else {})


def print_design(name: str, designs: list[Design], runs: list[Answers]) -> None:
    """Print false discoveries, found features and CPU time, one line per method."""
    may_be_found = designs[0].may_be_found
    for method in runs[0]:
        chosen = np.array([run[method][0] for run in runs])
        n_false = chosen[:, ~may_be_found].sum(axis=1)
        n_found = chosen[:, may_be_found].sum(axis=1)
        # With only null features, the proportion is 1 if any feature is selected, else 0.
        proportions = n_false / np.maximum(1, n_false + n_found)
        found = mean_and_error(n_found.tolist()) if may_be_found.any() else "-"
        seconds = mean_and_error([run[method][1] for run in runs])
        label = f"{name} ({int(may_be_found.sum())} to find)"
        print_row(label, [method, mean_and_error(proportions.tolist()), found, seconds])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        install()
        has_others = True
    except NotInstalledError as error:
        print(error)
        has_others = False
    seeds = range(args.first_seed, args.first_seed + args.tables)
    with threadpool_limits(1):
        # Compile the solver outside the measured fits.
        noise = BALANCED_NOISE["copies"](np.random.RandomState(0))
        our_classes("fdr")(noise.X, noise.y, 0)
        print_head("design", "method", "false", "found", "CPU seconds")
        for name, make in DESIGNS.items():
            designs = [make(np.random.RandomState(seed)) for seed in seeds]
            runs = [run_table(d, s, has_others) for d, s in zip(designs, seeds, strict=True)]
            print_design(name, designs, runs)


if __name__ == "__main__":
    main()
