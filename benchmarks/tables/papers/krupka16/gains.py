"""Means over tasks, and improvements as defined by Krupka (2016), Tables 3.1 and 3.2.

The thesis does not say how improvements are averaged; its figures are reproduced by improvements of
the averages. For accuracy this is the new average over the old one, for features the old number
over the new one. Probabilities are 100% minus the p-value of a one-sided t-test of the relative
improvements of the tasks, whose null hypothesis is a mean of zero or less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import ttest_1samp

from ...table import Derived, Measured
from . import published

KINDS = ("inner", "nested")
# Figures of all tasks at one seed, by key.
Columns = Mapping[str, np.ndarray]


def improvement(old: float, new: float) -> float:
    """Return the relative improvement from the old to the new value, in percent.

    Swap the arguments for numbers of features, where smaller is better.

    Examples
    --------
    >>> improvement(50.0, 60.0)
    20.0
    """
    return 100 * (new / old - 1)


def probability(old: np.ndarray, new: np.ndarray) -> float:
    """Return 100% minus the p-value of the improvement; NaN if all tasks improve equally."""
    gains = [improvement(before, after) for before, after in zip(old, new, strict=True)]
    if len(gains) < 2 or np.ptp(gains) == 0:
        return float("nan")
    return float(100 * (1 - ttest_1samp(gains, 0.0, alternative="greater").pvalue))


def by_seed(rows: Mapping[str, Measured]) -> dict[int, Columns]:
    """Group the values of all rows by seed, for the seeds that all rows have."""
    seeds = sorted(set.intersection(*(set(runs) for runs in rows.values())))
    keys = next(iter(next(iter(rows.values())).values())) if seeds else ()
    return {
        seed: {key: np.array([runs[seed][key] for runs in rows.values()]) for key in keys}
        for seed in seeds
    }


def mean_line(name: str, rows: Mapping[str, Measured], averages: Mapping[str, float]) -> Derived:
    """Return a table row with the means over tasks for each seed."""
    means = {
        seed: {key: float(values.mean()) for key, values in columns.items()}
        for seed, columns in by_seed(rows).items()
    }
    return Derived(name, means, averages, is_ours=True)


def gain_lines(tasks: str, rows: Mapping[str, Measured], setups: Sequence[str]) -> list[Derived]:
    """Return rows with the improvements over the previous setup and over the first setup."""
    columns = by_seed(rows)
    left = dict(zip(setups[1:], setups, strict=False))
    first = dict.fromkeys(setups[1:], setups[0])
    return [
        Derived(
            f"I_PREV of {tasks}, %",
            {seed: improvements(one, left) for seed, one in columns.items()},
            with_features(published.I_PREV, left),
            is_ours=True,
        ),
        Derived(
            f"I_R5 of {tasks}, %",
            {seed: improvements(one, first) for seed, one in columns.items()},
            with_features(published.I_R5, first),
            is_ours=True,
        ),
        Derived(
            f"P(I_R5 > 0) of {tasks}, %",
            {seed: probabilities(one, first) for seed, one in columns.items()},
            {f"{setup} inner": value for setup, value in published.P_R5.items()},
            is_ours=True,
        ),
    ]


def improvements(columns: Columns, over: Mapping[str, str]) -> dict[str, float]:
    """Return the relative improvement of each setup's averages over a reference setup.

    ``over`` maps each setup to its reference.
    """
    percent = {}
    for new, old in over.items():
        for kind in KINDS:
            key, before = f"{new} {kind}", f"{old} {kind}"
            percent[key] = improvement(columns[before].mean(), columns[key].mean())
            percent[f"{key} features"] = improvement(
                columns[f"{key} features"].mean(), columns[f"{before} features"].mean()
            )
    return percent


def probabilities(columns: Columns, over: Mapping[str, str]) -> dict[str, float]:
    percent = {
        f"{new} {kind}": probability(columns[f"{old} {kind}"], columns[f"{new} {kind}"])
        for new, old in over.items()
        for kind in KINDS
    }
    return {key: value for key, value in percent.items() if np.isfinite(value)}


def with_features(accuracy: Mapping[str, float], over: Mapping[str, str]) -> dict[str, float]:
    """Return the published improvements in accuracy and in the number of features.

    Those in the number of features follow from the published averages.
    """
    percent = {f"{setup} inner": value for setup, value in accuracy.items()}
    for new, old in over.items():
        sizes = [published.AVERAGE[f"{setup} inner features"] for setup in (new, old)]
        percent[f"{new} inner features"] = improvement(*sizes)
    return percent
