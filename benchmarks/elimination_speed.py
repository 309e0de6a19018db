"""Speed of SVM-based feature elimination compared with scikit-learn.

`RFE` and `RFECV` are scikit-learn's. The other algorithms are compared with a direct implementation
based on scikit-learn. Ratios compare CPU times on one core within one run, with equal results. CPU
times depend little on other work on the computer.

usage: python -m benchmarks.elimination_speed [--quick] [--data FOLDER] [--only TEXT]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, RFECV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from allrelevant import EBRFE, SVMRFE
from tests.elimination.naive import ONCE, PLAIN, naive_ebrfe, naive_margin_rfe

COSTS = (0.25, 1.0, 4.0, 16.0, 64.0)


def table(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n_samples, n_features, n_informative=10, n_redundant=0, class_sep=0.7, random_state=0
    )


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def sklearn_rfe(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = RFE(SVC(kernel="linear", tol=1e-6), n_features_to_select=1, step=1)
    return model.fit(X, y).ranking_


def rfe(n_samples: int, n_features: int) -> tuple[float, float, bool]:
    return compare_rfe(*table(n_samples, n_features))


def compare_rfe(X: np.ndarray, y: np.ndarray) -> tuple[float, float, bool]:
    ours, ranking = timed(lambda: SVMRFE(**PLAIN, n_features_to_select=1).fit(X, y).ranking_)
    theirs, expected = timed(lambda: sklearn_rfe(X, y))
    return ours, theirs, bool((ranking == expected).all())


def rfecv(n_samples: int, n_features: int) -> tuple[float, float, bool]:
    """Time SVMRFE and RFECV on the same folds; compare rankings and held-out scores."""
    X, y = table(n_samples, n_features)
    folds = StratifiedKFold(5)
    model = SVMRFE(**PLAIN, scoring="accuracy", cv=folds)
    ours, found = timed(lambda: model.fit(X, y))
    svm = SVC(kernel="linear", tol=1e-6)
    theirs, expected = timed(lambda: RFECV(svm, cv=folds, step=1, n_jobs=1).fit(X, y))
    histories, results = found._path.folds, expected.cv_results_
    # Scores can differ: libsvm stores its kernel matrix in single precision, so a row close to the
    # decision boundary can be on either side of it.
    scores = np.array([[step.outer_score for step in history.steps] for history in histories])
    expected_scores = np.array([results[f"split{k}_test_score"][::-1] for k in range(5)])
    equal = np.isclose(scores, expected_scores).mean()
    print(f"({100 * equal:.1f}% of {scores.size:,} held-out scores are equal)")
    same = [
        (history.ranking == results[f"split{k}_ranking"][0]).all()
        for k, history in enumerate(histories)
    ]
    return ours, theirs, all(same)


def margin(n_samples: int, n_features: int, n_steps: int) -> tuple[float, float, bool]:
    X, y = table(n_samples, n_features)
    model = SVMRFE(
        **PLAIN,
        kernel="rbf",
        criterion="margin",
        min_features_to_select=n_features - n_steps,
        n_features_to_select=n_features - n_steps,
    )
    ours, found = timed(lambda: model.fit(X, y))
    theirs, expected = timed(lambda: naive_margin_rfe(X, y, kernel="rbf", C=1.0, n_steps=n_steps))
    return ours, theirs, dropped(found) == expected


def ebrfe(n_samples: int, n_features: int, n_steps: int) -> tuple[float, float, bool]:
    X, y = table(n_samples, n_features)
    folds = StratifiedKFold(9)
    model = EBRFE(
        **ONCE,
        n_candidates=5,
        C=COSTS,
        cv=folds,
        kernel="rbf",
        min_features_to_select=n_features - n_steps,
    )
    ours, found = timed(lambda: model.fit(X, y))
    steps = naive_ebrfe(X, y, list(folds.split(X, y)), n_candidates=5, kernel="rbf", costs=COSTS)
    theirs, expected = timed(lambda: [step[0] for step in islice(steps, n_steps + 1)])
    return ours, theirs, dropped(found) == expected[1:]


def dropped(model: SVMRFE) -> list[int]:
    return [feature for step in model._path.whole.steps for feature in step.dropped]


def cases(quick: bool, folder: Path | None) -> dict[str, Callable[[], tuple[float, float, bool]]]:
    steps, wide = (5, 500) if quick else (50, 5000)
    real = {} if folder is None else {"SVM-RFE, linear, colon 62 x 2,000": lambda: colon(folder)}
    return {
        **real,
        "SVM-RFE, linear, 77 x 1,500": lambda: rfe(77, 1_500),
        f"SVM-RFE, linear, 100 x {wide:,}": lambda: rfe(100, wide),
        "SVM-RFE, linear, 300 x 500": lambda: rfe(300, 500),
        "RFECV, 5 folds, 300 x 500": lambda: rfecv(300, 500),
        f"RBF, margin, 300 x 500, first {steps // 5} steps": lambda: margin(300, 500, steps // 5),
        f"EB-RFE, RBF, 100 x 2,000, first {steps} steps": lambda: ebrfe(100, 2000, steps),
        f"EB-RFE, RBF, 200 x 300, first {steps} steps": lambda: ebrfe(200, 300, steps),
    }


def colon(folder: Path) -> tuple[float, float, bool]:
    data = np.load(folder / "colon_alon.npz")
    X = StandardScaler().fit_transform(data["X"].astype(float))
    return compare_rfe(X, data["y"])


def warm_up() -> None:
    X, y = table(40, 20)
    for kernel in ("linear", "rbf"):
        SVMRFE(kernel=kernel, criterion="margin", cv=2).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables, for a quick test")
    parser.add_argument("--data", type=Path, help="folder with colon_alon.npz, which is added")
    parser.add_argument("--only", default="", help="run only the cases whose name contains TEXT")
    args = parser.parse_args()
    warm_up()
    print("| case | `allrelevant` (s) | scikit-learn (s) | ratio | same result |")
    print("| --- | --- | --- | --- | --- |")
    with threadpool_limits(1):
        for name, case in cases(args.quick, args.data).items():
            if args.only not in name:
                continue
            ours, theirs, same = case()
            print(
                f"| {name} | {ours:.2f} | {theirs:.1f} | {theirs / ours:.1f} "
                f"| {'yes' if same else 'NO'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
