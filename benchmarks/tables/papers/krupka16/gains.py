"""Means over tasks, and the improvements of Table 3.1 as the thesis has them (its Table 3.2).

The thesis does not spell them out; they are inferred from its own figures. Improvements are of the
averages: in accuracy the new one over the old one, in features the old number over the new one. Its
probabilities are of the relative improvements of the single tasks: 100 % less the p-value of the
one-sided t-test that their mean is not above zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import ttest_1samp

from ...table import Derived, Measured
from . import published

KINDS = ("inner", "nested")
# By key, the figures of all tasks at one seed.
Columns = Mapping[str, np.ndarray]


def improvement(old: float, new: float) -> float:
    """In percent; of accuracies, as more is better. Numbers of features go in the other way round.

    Examples
    --------
    >>> improvement(50.0, 60.0)
    20.0
    """
    return 100 * (new / old - 1)


def probability(old: np.ndarray, new: np.ndarray) -> float:
    """That tasks improve, in percent; not a number for one task, or if all do by the same."""
    gains = [improvement(before, after) for before, after in zip(old, new, strict=True)]
    if len(gains) < 2 or np.ptp(gains) == 0:
        return float("nan")
    return float(100 * (1 - ttest_1samp(gains, 0.0, alternative="greater").pvalue))


def by_seed(rows: Mapping[str, Measured]) -> dict[int, Columns]:
    """Seeds that all rows have."""
    seeds = sorted(set.intersection(*(set(runs) for runs in rows.values())))
    keys = next(iter(next(iter(rows.values())).values())) if seeds else ()
    return {
        seed: {key: np.array([runs[seed][key] for runs in rows.values()]) for key in keys}
        for seed in seeds
    }


def mean_line(name: str, rows: Mapping[str, Measured], figures: Mapping[str, float]) -> Derived:
    """Over the tasks, seed by seed."""
    means = {
        seed: {key: float(values.mean()) for key, values in columns.items()}
        for seed, columns in by_seed(rows).items()
    }
    return Derived(name, means, figures, ours=True)


def gain_lines(what: str, rows: Mapping[str, Measured], setups: Sequence[str]) -> list[Derived]:
    """Over the setup to the left, and over the first one."""
    columns = by_seed(rows)
    left = dict(zip(setups[1:], setups, strict=False))
    first = dict.fromkeys(setups[1:], setups[0])
    return [
        Derived(
            f"I_PREV of {what}, %",
            {seed: improvements(one, left) for seed, one in columns.items()},
            with_features(published.I_PREV, left),
            ours=True,
        ),
        Derived(
            f"I_R5 of {what}, %",
            {seed: improvements(one, first) for seed, one in columns.items()},
            with_features(published.I_R5, first),
            ours=True,
        ),
        Derived(
            f"P(I_R5 > 0) of {what}, %",
            {seed: probabilities(one, first) for seed, one in columns.items()},
            {f"{setup} inner": value for setup, value in published.P_R5.items()},
            ours=True,
        ),
    ]


def improvements(columns: Columns, over: Mapping[str, str]) -> dict[str, float]:
    """Of the averages over the tasks; ``over`` has the setup that each is compared with."""
    found = {}
    for new, old in over.items():
        for kind in KINDS:
            key, before = f"{new} {kind}", f"{old} {kind}"
            found[key] = improvement(columns[before].mean(), columns[key].mean())
            found[f"{key} features"] = improvement(
                columns[f"{key} features"].mean(), columns[f"{before} features"].mean()
            )
    return found


def probabilities(columns: Columns, over: Mapping[str, str]) -> dict[str, float]:
    found = {
        f"{new} {kind}": probability(columns[f"{old} {kind}"], columns[f"{new} {kind}"])
        for new, old in over.items()
        for kind in KINDS
    }
    return {key: value for key, value in found.items() if np.isfinite(value)}


def with_features(accuracy: Mapping[str, float], over: Mapping[str, str]) -> dict[str, float]:
    """Published improvements; those in features from the published averages."""
    found = {f"{setup} inner": value for setup, value in accuracy.items()}
    for new, old in over.items():
        sizes = [published.AVERAGE[f"{setup} inner features"] for setup in (new, old)]
        found[f"{new} inner features"] = improvement(*sizes)
    return found
