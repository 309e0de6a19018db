"""JSON-compatible documents that describe fitted selectors and explained predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._validation import feature_names
from ..subsets import standard_errors
from .document import describe_target, make_document, to_json_value

if TYPE_CHECKING:
    import pandas as pd

    from ..saliency import Explanation


def selection_document(
    est: Any,
    y: ArrayLike,
    *,
    table: str,
    target: str,
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str,
) -> dict[str, Any]:
    """Return a JSON-compatible description of a fitted feature selector.

    ``y`` is the target of the training data, in its original unit. ``settings`` are additional
    settings, which are not parameters of the estimator. ``score["inner"]`` is the inner score of
    the selected subset. ``score["nested"]`` is the nested cross-validation score, or None if it was
    not computed.
    """
    check_is_fitted(est)
    names = feature_names(est)
    by_rank = np.lexsort((np.arange(len(names)), est.ranking_))
    classes = est.classes_.tolist() if hasattr(est, "classes_") else None
    target_values = describe_target(classes, y)
    for entry in target_values["classes"]:
        entry["label"] = str(entry["label"])
    body = {
        "method": type(est).__name__,
        "table": {
            "name": table,
            "target": target,
            "n_rows": len(np.asarray(y)),
            "n_features": int(est.n_features_in_),
        },
        **target_values,
        "n_selected": int(est.n_features_),
        "selected": [names[j] for j in by_rank if est.support_[j]],
        "score": _score(est),
        "subsets": _subsets(est),
        "features": _features(est, names),
        "history": [to_json_value(row) for row in est.history_.to_dict("records")],
    }
    return make_document(
        body,
        settings={**est.get_params(deep=False), **settings},
        warnings=warnings,
        command=command,
        model=getattr(est, "estimator_", None),
    )


def _features(est: Any, names: list[str]) -> list[dict[str, Any]]:
    features = [
        {"name": name, "rank": int(rank), "selected": bool(selected)}
        for name, rank, selected in zip(names, est.ranking_, est.support_, strict=True)
    ]
    if hasattr(est, "importances_"):
        for feature, importance in zip(features, est.importances_, strict=True):
            feature["importance"] = float(importance)
    return features


def _score(est: Any) -> dict[str, Any]:
    if not hasattr(est, "scores_"):  # the selector computes only a ranking
        return {"name": None, "inner": None, "best_inner": None, "nested": None}
    same_size = np.flatnonzero(est.n_subset_features_ == est.n_features_)
    is_scored = len(est.scores_) > 0 and len(same_size) > 0
    nested = getattr(est, "nested_score_", None)
    return {
        "name": "accuracy" if est.scoring is None else to_json_value(est.scoring),
        "inner": float(est.scores_[same_size].max()) if is_scored else None,
        "best_inner": float(est.scores_.max()) if len(est.scores_) else None,
        "nested": None
        if nested is None
        else {
            "mean": nested.score,
            "by_fold": nested.scores.tolist(),
            "n_selected_by_fold": nested.n_features.tolist(),
        },
    }


def _subsets(est: Any) -> list[dict[str, Any]]:
    if len(getattr(est, "scores_", ())) == 0:
        return []
    errors = standard_errors(est.fold_scores_)
    return [
        {"n_features": int(n), "score": float(score), "standard_error": float(error)}
        for n, score, error in zip(est.n_subset_features_, est.scores_, errors, strict=True)
    ]


def explanation_document(
    explanation: Explanation,
    features: pd.DataFrame,
    rows: Sequence[int],
    *,
    table: str,
    target: str,
    model: Any,
    quality: Mapping[str, Any],
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str,
) -> dict[str, Any]:
    """Describe explained predictions as a JSON-compatible document, most salient features first.

    ``features`` contains the unscaled values of these rows, and ``rows`` their row numbers in the
    table. ``quality`` is the cross-validated score of the model. ``settings`` are the settings used
    to train it.
    """
    body = {
        "table": {"name": table, "target": target, "n_features": features.shape[1]},
        "quality": to_json_value(quality),
        "rows": [_row(explanation, features, index, number) for index, number in enumerate(rows)],
    }
    return make_document(body, settings=settings, warnings=warnings, command=command, model=model)


def _row(
    explanation: Explanation, features: pd.DataFrame, index: int, number: int
) -> dict[str, Any]:
    order = np.argsort(-explanation.absolute[index], kind="stable")
    return {
        "row": number,
        "target": to_json_value(explanation.targets[index]),
        "predicted": to_json_value(explanation.predicted[index]),
        "wrong": bool(explanation.wrong[index]),
        "note": explanation.note(index),
        "gain": float(explanation.gains[index]),
        "features": [
            {
                "name": explanation.names[j],
                "value": float(features.iloc[index, j]),
                "saliency": float(explanation.saliency[index, j]),
            }
            for j in order
        ],
    }
