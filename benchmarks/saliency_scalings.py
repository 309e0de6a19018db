"""How Cancela et al. (2020) took the challenge sets: their accuracies on all features tell.

Their paper states C, degree and coef0 of the SVMs, not what was done to the tables, nor that
classes weigh the same and that libsvm ends early; that stands in the scripts they published. Each
way of scaling gives four accuracies, one by kernel; printed beside the published ones.

usage: python -m benchmarks.saliency_scalings --data FOLDER
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from .saliency_sets import (
    KERNELS,
    PUBLISHED,
    ChallengeSet,
    Scaling,
    as_it_is,
    load_unscaled,
    one_spread,
    ones_from_three,
)


def zeros_and_ones(X: Any, X_test: Any) -> tuple[Any, Any]:
    return (X > 0).astype(float), (X_test > 0).astype(float)


def a_spread_each(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Of each column, and a mean of each unless it is sparse."""
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)
    return scaler.transform(X), scaler.transform(X_test)


SCALINGS: dict[str, Scaling] = {
    "as it is": as_it_is,
    "zeros and ones": zeros_and_ones,
    "one spread": one_spread,
    "a spread each": a_spread_each,
}
COUNTS: dict[str, Scaling] = {"ones from three on": ones_from_three}


def scalings_of(name: str) -> dict[str, Scaling]:
    """Counts, which only DEXTER has, can be cut too."""
    return SCALINGS | COUNTS if name == "dexter" else SCALINGS


def accuracies(data: ChallengeSet, scaling: Scaling) -> list[float]:
    """By kernel, in percent. C is 1 throughout: 1.5, of RBF on ARCENE, is not for all features."""
    X, X_test = scaling(data.X, data.X_test)
    machines = [data.machine(kernel).set_params(C=1.0) for kernel in KERNELS]
    return [100 * svc.fit(X, data.y).score(X_test, data.y_test) for svc in machines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the cap on libsvm's steps, on purpose
    print(f"| set | scaling | {' | '.join(KERNELS)} |\n|{' --- |' * 6}")
    with threadpool_limits(1):
        for name, published in PUBLISHED.items():
            print(f"| {name.upper()} | *published* | {' | '.join(published['all features'])} |")
            data = load_unscaled(name, args.data)
            for title, scaling in scalings_of(name).items():
                cells = " | ".join(f"{value:.1f}" for value in accuracies(data, scaling))
                print(f"| | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
