"""Candidates for a default of ``SVMRFE`` that is more accurate than the present one.

The candidates were written down before they were measured. They are compared on the development
tables, with two seeds and five outer folds.

Criterion: the smallest mean rank of the balanced accuracy among the candidates. Small subsets
remain the purpose, so a candidate is admissible only if its median number of features is at most
1.5 times that of the present default. Among the admissible candidates within 0.5 of the smallest
mean rank, the one with the fewest repetitions is chosen, then the one with C=1 and automatic steps.
The choice replaces the present default only if its mean accuracy is also higher. Then, the
confirmation tables are measured once.

Choice: "AUC; 1, C=0.01". It has the smallest mean rank, and no other candidate is within 0.5 of it.
It was not better than the present default on the confirmation tables, so the default is unchanged.

A path starts with all features, so all rules consider the set of all features as well.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .result_cache import load_or_compute
from .selection_evaluation import balanced_accuracies
from .selection_rules import (
    MANY_FEATURES,
    N_FOLDS,
    N_OUTER_FOLDS,
    N_REPEATS,
    Scores,
    inner_scores,
    means,
)
from .selection_tables import Table

# Subsets whose sizes differ by at most this factor are neighbors on the score curve.
NEIGHBOR_FACTOR = 1.25


@dataclass(frozen=True)
class Candidate:
    """Rule for the number of features, and the elimination to which it is applied.

    ``scores`` are averaged, and ties go to the largest margin and then to the smallest subset.
    ``costs`` are values of C; the path of the best one is chosen. ``coarse`` means the steps of
    ``RFECV``: above 200 features, each step removes a tenth of *all* features.
    """

    scores: tuple[str, ...]
    n_repeats: int = 1
    smooth: bool = False
    costs: tuple[float, ...] = (1.0,)
    coarse: bool = False

    def settings(self, cost: float, n_features: int) -> dict[str, Any]:
        """Return the parameters of ``SVMRFE`` for one C and a number of features."""
        coarse = self.coarse and n_features > MANY_FEATURES
        step = n_features // 10 if coarse else "auto"
        return {"class_weight": "balanced", "C": cost, "step": step}

    def choose(self, paths: list[dict[str, Any]]) -> np.ndarray:
        """Return the chosen features, given the path of each C."""
        best: tuple[float, float, int, int] | None = None
        features = np.empty(0, dtype=int)
        for path in paths:
            sizes, positions = np.array(path["sizes"]), np.array(path["positions"])
            scores = {
                name: np.array(values)[:, : self.n_repeats * N_FOLDS]
                for name, values in path["scores"].items()
            }
            values, margins = self._values(sizes, scores), means(scores["margin"])
            i = np.lexsort((sizes, -margins, -values))[0]
            key = (float(values[i]), float(margins[i]), -int(sizes[i]), -len(positions))
            if best is None or key > best:
                best, features = key, np.flatnonzero(positions <= sizes[i])
        return features

    def _values(self, sizes: np.ndarray, scores: Scores) -> np.ndarray:
        values = np.stack([means(scores[name]) for name in self.scores]).mean(axis=0)
        if self.smooth:
            ratios = sizes[:, None] / sizes
            near = (ratios <= NEIGHBOR_FACTOR) & (ratios >= 1 / NEIGHBOR_FACTOR)
            values = near @ values / near.sum(axis=1)
        return np.asarray(np.round(values, 12))


PRESENT = "balanced accuracy; 1"
GRID = (0.01, 0.1, 1.0)

CANDIDATES: dict[str, Candidate] = {
    PRESENT: Candidate(("balanced",)),
    "balanced accuracy; 3": Candidate(("balanced",), 3),
    "AUC; 1": Candidate(("auc",)),
    "AUC; 3": Candidate(("auc",), 3),
    "margin; 1": Candidate(("margin",)),
    "margin; 3": Candidate(("margin",), 3),
    "balanced accuracy and AUC; 1": Candidate(("balanced", "auc")),
    "balanced accuracy and AUC; 3": Candidate(("balanced", "auc"), 3),
    "smoothed balanced accuracy; 1": Candidate(("balanced",), 1, smooth=True),
    "smoothed balanced accuracy; 3": Candidate(("balanced",), 3, smooth=True),
    "smoothed AUC; 1": Candidate(("auc",), 1, smooth=True),
    "smoothed AUC; 3": Candidate(("auc",), 3, smooth=True),
    "balanced accuracy; 1, C=0.1": Candidate(("balanced",), costs=(0.1,)),
    "balanced accuracy; 1, C=0.01": Candidate(("balanced",), costs=(0.01,)),
    "balanced accuracy; 1, best C": Candidate(("balanced",), costs=GRID),
    "AUC; 1, C=0.1": Candidate(("auc",), costs=(0.1,)),
    "AUC; 1, C=0.01": Candidate(("auc",), costs=(0.01,)),
    "AUC; 1, best C": Candidate(("auc",), costs=GRID),
    "balanced accuracy; 1, coarse": Candidate(("balanced",), coarse=True),
    "AUC; 1, coarse": Candidate(("auc",), coarse=True),
}


def compare_candidates(
    name: str, table: Table, folder: Path, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Return, for each candidate, the evaluation in each outer fold."""
    results: dict[str, list[dict[str, Any]]] = {}
    for number, (train, test) in enumerate(table.outer_folds(N_OUTER_FOLDS, seed)):
        fold = OuterFold(f"{name}-{seed}-{number}".replace(" ", "_"), table, train, test, folder)
        for title, candidate in CANDIDATES.items():
            results.setdefault(title, []).append(
                fold.evaluate(candidate.choose(fold.paths(candidate)))
            )
    return results


@dataclass(frozen=True)
class OuterFold:
    """One outer fold of a table, with its stored results."""

    stem: str
    table: Table
    train: np.ndarray
    test: np.ndarray
    folder: Path

    def paths(self, candidate: Candidate) -> list[dict[str, Any]]:
        """Return the path and the inner scores for each C of a candidate."""
        found = []
        for cost in candidate.costs:
            settings = candidate.settings(cost, self.table.X.shape[1])
            path = self.folder / f"path-{self.stem}-{cost:g}-{settings['step']}.json"
            # All candidates with C=1 and automatic steps share the path with all repetitions.
            shared = cost == 1.0 and settings["step"] == "auto"
            n_repeats = N_REPEATS if shared else candidate.n_repeats
            compute = partial(inner_scores, self.table, self.train, n_repeats=n_repeats, **settings)
            found.append(load_or_compute(path, compute))
        return found

    def evaluate(self, features: np.ndarray) -> dict[str, Any]:
        """Return the accuracies of some features on the held-out rows."""
        name = f"{len(features)}-{zlib.crc32(features.astype(np.int64).tobytes())}"

        def compute() -> dict[str, Any]:
            found = balanced_accuracies(self.table.X, self.table.y, self.train, self.test, features)
            return {"accuracies": found, "features": features.tolist()}

        return load_or_compute(self.folder / f"evaluated-{self.stem}-{name}.json", compute)
