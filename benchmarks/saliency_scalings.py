"""Accuracies with all features for several scalings, compared with Cancela et al. (2020).

The paper states C, degree and coef0 of the SVMs. It does not state the scaling of the tables, that
classes have equal weight, or that libsvm stops early; these settings are in the authors' published
scripts. For each scaling, this script prints the accuracy with each of four kernels next to the
published values.

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
    binarize_at_3,
    load_unscaled,
    no_scaling,
    standardize_table,
)


def binarize(X: Any, X_test: Any) -> tuple[Any, Any]:
    return (X > 0).astype(float), (X_test > 0).astype(float)


def standardize_features(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Standardize each feature; do not center sparse tables."""
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)
    return scaler.transform(X), scaler.transform(X_test)


SCALINGS: dict[str, Scaling] = {
    "none": no_scaling,
    "binarized": binarize,
    "whole table standardized": standardize_table,
    "each feature standardized": standardize_features,
}
COUNT_SCALINGS: dict[str, Scaling] = {"binarized at 3": binarize_at_3}


def get_scalings(name: str) -> dict[str, Scaling]:
    """Return the scalings to compare; the word counts of DEXTER can also be binarized."""
    return SCALINGS | COUNT_SCALINGS if name == "dexter" else SCALINGS


def accuracies(data: ChallengeSet, scaling: Scaling) -> list[float]:
    """Return the test accuracy of an SVM in percent, for each kernel.

    C is 1, because the published C = 1.5 for RBF on ARCENE does not apply to all features.
    """
    X, X_test = scaling(data.X, data.X_test)
    svms = [data.svm(kernel).set_params(C=1.0) for kernel in KERNELS]
    return [100 * svm.fit(X, data.y).score(X_test, data.y_test) for svm in svms]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # libsvm stops early, as intended
    print(f"| set | scaling | {' | '.join(KERNELS)} |\n|{' --- |' * 6}")
    with threadpool_limits(1):
        for name, published in PUBLISHED.items():
            print(f"| {name.upper()} | *published* | {' | '.join(published['all features'])} |")
            data = load_unscaled(name, args.data)
            for title, scaling in get_scalings(name).items():
                cells = " | ".join(f"{value:.1f}" for value in accuracies(data, scaling))
                print(f"| | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
