"""JSON-compatible documents that describe fitted selectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._typing import Vector
from .._validation import feature_names
from ..bounds.cheapest_models import CheapestModels
from ..relevance import CLASSES
from ..subsets import HeldOutScore
from .document import SELECTION, describe_target, make_document, to_json_value


@dataclass(frozen=True)
class SelectionBounds:
    """Relevance bounds for the table of a selection.

    ``est`` is a fitted estimator, and ``small_set`` the smallest sufficient set. ``substitutes``
    lists the substitutes of the selected features and of those in the small set. Both are None if
    they were not computed.
    """

    est: Any
    substitutes: Mapping[str, list[str]] | None = None
    small_set: CheapestModels | None = None


def selection_document(
    est: Any,
    y: ArrayLike,
    *,
    task: str,
    table: str,
    target: str,
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str,
    bounds: SelectionBounds | None = None,
) -> dict[str, Any]:
    """Return a JSON-compatible description of a fitted feature selector.

    ``y`` is the target of the training data, in its original unit. ``settings`` are additional
    settings, which are not parameters of the estimator or replace them. ``bounds`` are relevance
    bounds for the same table, if they were computed.
    """
    check_is_fitted(est)
    names = feature_names(est)
    by_rank = np.lexsort((np.arange(len(names)), est.ranking_))
    classes = est.classes_.tolist() if hasattr(est, "classes_") else None
    target_values = describe_target(classes, y)
    for entry in target_values["classes"]:
        entry["label"] = str(entry["label"])
    held_out = getattr(est, "held_out_score_", None)
    body = {
        "kind": SELECTION,
        "method": type(est).__name__,
        "task": task,
        "table": {
            "name": table,
            "target": target,
            "n_rows": len(np.asarray(y)),
            "n_features": int(est.n_features_in_),
        },
        **target_values,
        "n_selected": int(est.n_features_),
        "selected": [names[j] for j in by_rank if est.support_[j]],
        "score": _score(est, held_out),
        "subsets": _subsets(est),
        "features": _features(est, names, held_out, bounds),
        "bounds": None if bounds is None else _bounds_part(bounds),
        "history": [to_json_value(row) for row in est._history_rows(names)],
    }
    return make_document(
        body,
        settings={**est.get_params(deep=False), **settings},
        warnings=warnings,
        command=command,
        model=getattr(est, "estimator_", None),
    )


def _score(est: Any, held_out: HeldOutScore | None) -> dict[str, Any]:
    """Return the scores of the selection; values that were not computed are None."""
    scores = np.asarray(est.scores_)
    is_chosen = est.n_subset_features_ == est.n_features_
    return {
        "name": est.scoring_,
        "optimistic": bool(est.optimistic_),
        "cross_validated": float(scores[is_chosen].max())
        if _has_score(scores, is_chosen)
        else None,
        "best_n_features": int(est.n_subset_features_[np.argmax(scores)]) if len(scores) else None,
        "held_out": None
        if held_out is None
        else {
            "mean": held_out.score,
            "standard_error": held_out.standard_error,
            "all_features": held_out.all_features,
            "all_features_error": held_out.all_features_error,
            "difference_pvalue": held_out.difference_pvalue,
            "constant": float(held_out.constant),
            "nested": held_out.nested,
            "by_fold": held_out.scores.tolist(),
            "n_selected_by_fold": held_out.n_features.tolist(),
            "stability": to_json_value(held_out.stability.nogueira),
        },
    }


def _has_score(scores: Vector, is_chosen: NDArray[np.bool_]) -> bool:
    """Return whether a subset with the selected number of features was scored."""
    return len(scores) > 0 and bool(is_chosen.any())


def _subsets(est: Any) -> list[dict[str, Any]]:
    if len(est.scores_) == 0:
        return []
    return [
        {"n_features": int(n), "score": float(score), "standard_error": float(error)}
        for n, score, error in zip(
            est.n_subset_features_, est.scores_, est.score_errors_, strict=True
        )
    ]


def _features(
    est: Any, names: list[str], held_out: HeldOutScore | None, bounds: SelectionBounds | None
) -> list[dict[str, Any]]:
    features: list[dict[str, Any]] = [
        {"name": name, "rank": int(rank), "selected": bool(selected)}
        for name, rank, selected in zip(names, est.ranking_, est.support_, strict=True)
    ]
    for name, values in _columns(est, held_out, bounds).items():
        for feature, value in zip(features, values, strict=True):
            feature[name] = to_json_value(value)
    substitutes = None if bounds is None else bounds.substitutes
    for feature in features:
        if substitutes is not None and feature["name"] in substitutes:
            feature["substitutes"] = substitutes[feature["name"]]
    return features


def _columns(
    est: Any, held_out: HeldOutScore | None, bounds: SelectionBounds | None
) -> dict[str, Any]:
    """Return the computed columns of the feature table, by name."""
    columns: dict[str, Any] = {}
    if held_out is not None:
        columns["frequency"] = held_out.stability.frequency
    if hasattr(est, "importances_"):
        columns["importance"] = est.importances_
    return columns if bounds is None else columns | _bounds_columns(bounds)


def _bounds_columns(bounds: SelectionBounds) -> dict[str, Any]:
    """Return the relevance of each feature, its bounds, and whether it is in the small set."""
    columns = {
        "relevance": bounds.est.relevance_,
        "lower": bounds.est.interval_[:, 0],
        "upper": bounds.est.interval_[:, 1],
    }
    if bounds.small_set is not None:
        columns["in_small_set"] = bounds.small_set.get_support()
    return columns


def _bounds_part(bounds: SelectionBounds) -> dict[str, Any]:
    est, small_set = bounds.est, bounds.small_set
    return {
        "method": type(est).__name__,
        "score_name": est._score_name,
        "counts": {name: int((est.relevance_ == name).sum()) for name in CLASSES},
        "table_pvalue": getattr(est, "table_pvalue_", None),
        "has_substitutes": bounds.substitutes is not None,
        "small_set": None if small_set is None else small_set.to_dict(),
    }
