"""Comparison of rules for the number of features, from which the default rule was chosen.

Each table is split into outer folds. In each outer fold, features are ranked on the training rows,
and the ranking is repeated in three repetitions of five inner folds. All rules choose from these
scores. The chosen features are evaluated on the held-out rows.

The candidate for the default was chosen on the development tables with the seeds 0 and 1, before
the confirmation tables were used: the best balanced accuracy, with ties broken by the margin, in
one repetition of five folds, with balanced class weights.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from allrelevant import SVMRFE
from allrelevant._params import ClassWeightName

from .result_cache import load_or_compute
from .selection_evaluation import balanced_accuracies
from .selection_tables import Table

N_OUTER_FOLDS, N_FOLDS, N_REPEATS = 5, 5, 3

# Above this number of features, RFECV removes a tenth of them per step, as ``SVMRFE`` does.
MANY_FEATURES = 200


class Recorder:
    """Scorer that returns the balanced accuracy and stores several scores of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, float, float]] = []

    def __call__(self, model: Any, X: Any, y: np.ndarray) -> float:
        correct = model.predict(X) == y
        balanced = float(np.mean([correct[y == code].mean() for code in np.unique(y)]))
        area = auc(model.decision_function(X), y, model.classes_)
        self.calls.append((float(correct.mean()), balanced, area))
        return balanced


def auc(decision: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """Return the area under the ROC curve, averaged over classes."""
    columns = decision[:, None] if decision.ndim == 1 else decision
    areas = []
    for code, column in zip(classes[-columns.shape[1] :], columns.T, strict=True):
        positive = y == code
        n_positive, n_negative = int(positive.sum()), int((~positive).sum())
        if n_positive and n_negative:
            ranks = rankdata(column)[positive].sum()
            areas.append((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
    return float(np.mean(areas))


def inner_scores(
    table: Table, train: np.ndarray, *, n_repeats: int = N_REPEATS, **settings: Any
) -> dict[str, Any]:
    """Rank the features on some rows; return the sizes, the ranking and all inner scores."""
    X, y = table.X[train], table.y[train]
    folds: Any = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=n_repeats, random_state=0)
    if table.groups is not None:
        groups = table.groups[train]
        folds = [
            fold
            for seed in range(n_repeats)
            for fold in StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(
                X, y, groups
            )
        ]
    recorder = Recorder()
    model = SVMRFE(cv=folds, scoring=recorder, **settings).fit(X, y)
    path = model._path
    # The scorer is called for each subset of each fold, and once for a constant prediction.
    n_calls = [len(fold.steps) + 1 for fold in path.folds]
    calls = np.array(recorder.calls[-sum(n_calls) :])
    by_fold = np.split(calls, np.cumsum(n_calls)[:-1])
    sizes = model.n_subset_features_
    scores = {
        name: np.empty((len(sizes), len(by_fold))) for name in ("accuracy", "balanced", "auc")
    }
    for k, (fold, values) in enumerate(zip(path.folds, by_fold, strict=True)):
        steps = [step.n_features for step in fold.steps]
        index = [steps.index(fold.step_with(size).n_features) for size in sizes.tolist()]
        for column, name in enumerate(scores):
            scores[name][:, k] = values[index, column]
    scores["margin"] = path.scores.margins
    return {
        "sizes": sizes.tolist(),
        "positions": path.whole.positions.tolist(),
        "scores": {name: values.tolist() for name, values in scores.items()},
    }


Scores = dict[str, np.ndarray]
Rule = Callable[[np.ndarray, Scores], int]


def best(score: str, tie: str | None = None) -> Rule:
    """Choose the best score; ties go to another score, or to the smallest subset."""

    def rule(sizes: np.ndarray, scores: Scores) -> int:
        ties = np.zeros(len(sizes)) if tie is None else -means(scores[tie])
        return int(sizes[np.lexsort((sizes, ties, -means(scores[score])))[0]])

    return rule


def within(score: str, tolerance: float | str) -> Rule:
    """Choose the smallest subset within a tolerance of the best score.

    ``"one_se"`` is the standard error of the best score, and ``"paired"`` the standard error of the
    difference to the best score.
    """

    def rule(sizes: np.ndarray, scores: Scores) -> int:
        values = scores[score]
        average = means(values)
        top = int(np.lexsort((sizes, -means(scores["margin"]), -average))[0])
        limit: Any = tolerance
        if tolerance == "one_se":
            limit = error(values[top])
        elif tolerance == "paired":
            limit = np.array([error(row - values[top]) for row in values])
        return int(sizes[average >= average[top] - limit - 1e-12].min())

    return rule


def means(values: np.ndarray) -> np.ndarray:
    return np.round(values.mean(axis=1), 12)


def error(values: np.ndarray) -> float:
    """Return the standard error of the mean; repeated folds are not independent."""
    return float(values.std(ddof=1) / np.sqrt(min(len(values), N_FOLDS)))


RULES: dict[str, Rule] = {
    "best accuracy, smallest": best("accuracy"),
    "best accuracy, ties by margin": best("accuracy", "margin"),
    "best balanced accuracy, smallest": best("balanced"),
    "best balanced accuracy, ties by AUC": best("balanced", "auc"),
    "best balanced accuracy, ties by margin": best("balanced", "margin"),
    "one standard error, accuracy": within("accuracy", "one_se"),
    "one standard error, balanced accuracy": within("balanced", "one_se"),
    "paired standard error, balanced accuracy": within("balanced", "paired"),
    "within 0.01 of the best balanced accuracy": within("balanced", 0.01),
    "within 0.02 of the best balanced accuracy": within("balanced", 0.02),
    "best AUC, ties by margin": best("auc", "margin"),
    "best margin": best("margin"),
    "one standard error, margin": within("margin", "one_se"),
    "paired standard error, margin": within("margin", "paired"),
    "within 0.02 of the best margin": within("margin", 0.02),
    "within 0.05 of the best margin": within("margin", 0.05),
    "all features": lambda sizes, scores: int(sizes[0]),
}


def compare_rules(
    name: str,
    table: Table,
    folder: Path,
    seed: int,
    class_weight: ClassWeightName | None = "balanced",
) -> dict[str, list[dict[str, Any]]]:
    """Return, for each rule, the evaluation in each outer fold; repetitions are in the name."""
    results: dict[str, list[dict[str, Any]]] = {}
    for number, (train, test) in enumerate(table.outer_folds(N_OUTER_FOLDS, seed)):
        stem = f"rules-{name}-{class_weight}-{seed}-{number}".replace(" ", "_")

        def compute(train: np.ndarray = train, test: np.ndarray = test) -> dict[str, Any]:
            return evaluate_rules(table, train, test, class_weight)

        for rule, result in load_or_compute(folder / f"{stem}.json", compute).items():
            results.setdefault(rule, []).append(result)
    return results


def evaluate_rules(
    table: Table, train: np.ndarray, test: np.ndarray, class_weight: ClassWeightName | None
) -> dict[str, Any]:
    found = inner_scores(table, train, class_weight=class_weight)
    sizes, positions = np.array(found["sizes"]), np.array(found["positions"])
    evaluated: dict[int, list[float]] = {}
    results = {}
    for n_repeats in (1, N_REPEATS):
        scores = {
            key: np.array(values)[:, : n_repeats * N_FOLDS]
            for key, values in found["scores"].items()
        }
        for title, rule in RULES.items():
            size = rule(sizes, scores)
            features = np.flatnonzero(positions <= size)
            if size not in evaluated:
                evaluated[size] = balanced_accuracies(table.X, table.y, train, test, features)
            results[f"{title}; {n_repeats}"] = {
                "accuracies": evaluated[size],
                "features": features.tolist(),
            }
    return results
