"""What an explanation of rows says, as plain values that JSON can hold.

What a selection has found, as plain values that JSON can hold: both scores, side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._validation import feature_names
from ..elimination.history import standard_errors
from .document import to_json_value, versions

if TYPE_CHECKING:
    import pandas as pd

    from ..saliency import Explanation


# Raised when a field changes its meaning or goes away, so that readers of the JSON can tell.
EXPLANATION_FORMAT = 1


def explanation_document(
    explanation: Explanation,
    features: pd.DataFrame,
    rows: Sequence[int],
    *,
    table: str | None = None,
    target: str | None = None,
    model: Any = None,
    quality: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    warnings: Iterable[str] = (),
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Everything worth telling about explained rows, ready for JSON.

    Parameters
    ----------
    explanation : Explanation
    features : pandas.DataFrame
        The rows that are explained, as they stand in the table.
    rows : sequence of int
        Their numbers there.
    table, target : str, default=None
        Names.
    model : estimator, default=None
        The one that is explained.
    quality : mapping, default=None
        How good the model is on rows that it has not seen.
    settings : mapping, default=None
        How the model was trained.
    warnings : iterable of str, default=()
        What the reader should know besides.
    command : str, default=None
        The command line that made it.
    created : datetime, default=None
        By default now.

    Returns
    -------
    dict
        Of dicts, lists, strings, numbers, booleans and None; the features of each row with the
        most salient first.
    """
    return {
        "format_version": EXPLANATION_FORMAT,
        "created": (created or datetime.now(UTC)).isoformat(timespec="seconds"),
        "command": command,
        "table": {"name": table, "target": target, "n_features": features.shape[1]},
        "quality": None if quality is None else to_json_value(quality),
        "rows": [_row(explanation, features, place, number) for place, number in enumerate(rows)],
        "settings": to_json_value(settings or {}),
        "versions": versions(model),
        "warnings": list(warnings),
    }


def _row(
    explanation: Explanation, features: pd.DataFrame, place: int, number: int
) -> dict[str, Any]:
    order = np.argsort(-explanation.absolute[place], kind="stable")
    return {
        "row": number,
        "explained": to_json_value(explanation.targets[place]),
        "predicted": to_json_value(explanation.predicted[place]),
        "wrong": bool(explanation.wrong[place]),
        "note": explanation.note(place),
        "gain": float(explanation.gains[place]),
        "features": [
            {
                "name": explanation.names[j],
                "value": float(features.iloc[place, j]),
                "saliency": float(explanation.saliency[place, j]),
            }
            for j in order
        ],
    }


# Raised when a field changes its meaning or goes away, so that readers of the JSON can tell.
SELECTION_FORMAT = 1


def selection_document(
    est: Any,
    y: ArrayLike,
    *,
    table: str | None = None,
    target: str | None = None,
    settings: Mapping[str, Any] | None = None,
    warnings: Iterable[str] = (),
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Everything worth telling about a fitted selector, ready for JSON.

    Parameters
    ----------
    est : SVMRFE, EBRFE, BitFlip, AttributeFlip or SaliencySelector
        Fitted.
    y : array-like of shape (n_samples,)
        What it was fitted on, numbers in any unit.
    table, target : str, default=None
        Their names.
    settings : mapping, default=None
        What was set besides the estimator's own parameters.
    warnings : iterable of str, default=()
        What the reader should know besides.
    command : str, default=None
        The command line that made it.
    created : datetime, default=None
        By default now.

    Returns
    -------
    dict
        Of dicts, lists, strings, numbers, booleans and None. ``score["inner"]`` is what
        cross-validation said of the subset when it was chosen, ``score["nested"]`` what the whole
        selection is worth on rows that it never saw; None if that was not asked for.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE
    >>> X, y = make_classification(40, 6, random_state=0)
    >>> summary = selection_document(SVMRFE(nested_cv=True, n_features_to_select=2).fit(X, y), y)
    >>> summary["n_selected"], len(summary["score"]["nested"]["by_fold"])
    (2, 5)
    """
    check_is_fitted(est)
    names = feature_names(est)
    by_rank = np.lexsort((np.arange(len(names)), est.ranking_))
    return {
        "format_version": SELECTION_FORMAT,
        "method": type(est).__name__,
        "created": (created or datetime.now(UTC)).isoformat(timespec="seconds"),
        "command": command,
        "table": {
            "name": table,
            "target": target,
            "n_rows": len(np.asarray(y)),
            "n_features": int(est.n_features_in_),
        },
        **_target(est, np.asarray(y)),
        "n_selected": int(est.n_features_),
        "selected": [names[j] for j in by_rank if est.support_[j]],
        "score": _score(est),
        "subsets": _subsets(est),
        "features": _features(est, names),
        "history": [to_json_value(row) for row in est.history_.to_dict("records")],
        "settings": {
            **{name: to_json_value(value) for name, value in est.get_params(deep=False).items()},
            **(settings or {}),
        },
        "versions": versions(getattr(est, "estimator_", None)),
        "warnings": list(warnings),
    }


def _target(est: Any, y: NDArray[Any]) -> dict[str, Any]:
    """Its classes, or where its values lie."""
    if not hasattr(est, "classes_"):
        values = {"min": float(y.min()), "max": float(y.max()), "mean": float(y.mean())}
        return {"classes": [], "values": values}
    classes = [{"label": str(label), "n_rows": int((y == label).sum())} for label in est.classes_]
    return {"classes": classes, "values": None}


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
    if not hasattr(est, "scores_"):  # a ranking alone
        return {"name": None, "inner": None, "best_inner": None, "nested": None}
    places = np.flatnonzero(est.n_subset_features_ == est.n_features_)
    known = len(est.scores_) > 0 and len(places) > 0
    nested = getattr(est, "nested_score_", None)
    return {
        "name": "accuracy" if est.scoring is None else to_json_value(est.scoring),
        "inner": float(est.scores_[places].max()) if known else None,
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
