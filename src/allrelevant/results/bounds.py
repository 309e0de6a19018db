"""JSON-compatible documents that describe fitted relevance bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._params import FDR
from ..bounds.cheapest_models import CheapestModels
from ..bounds.mapping.mapping_estimator import MAPPING_COLUMNS
from ..bounds.path import BoundsPath
from ..bounds.relations import Relations
from ..bounds.result import FEATURE_COLUMNS, Column, feature_records
from ..bounds.sufficiency import Sufficiency
from ..relevance import CLASSES
from .document import BOUNDS, describe_target, make_document, to_json_value


def bounds_document(
    est: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    table: str | None = None,
    target: str | None = None,
    task_note: str | None = None,
    path: BoundsPath | None = None,
    relations: Relations | None = None,
    design: CheapestModels | None = None,
    small_set: CheapestModels | None = None,
    sufficiency: Sufficiency | None = None,
    not_reached: Sequence[str] = (),
    warnings: Iterable[str] = (),
    command: str | None = None,
) -> dict[str, Any]:
    """Return a JSON-compatible description of fitted relevance bounds, for the HTML report.

    ``X`` and ``y`` are the training data, used for the number of rows and the training score.
    ``task_note`` explains an inferred task. ``path``, ``relations``, ``design`` (sets of minimum
    cost), ``small_set`` (the set with the fewest features) and ``sufficiency`` are optional further
    results for the same data; ``not_reached`` names those that the time limit left out. Features
    are in the order of the table.
    """
    check_is_fitted(est)
    settings = est.get_params(deep=False)
    classes = est.classes_.tolist() if hasattr(est, "classes_") else None
    target_values = describe_target(classes, None if y is None else est.task.target_numbers(y))
    features, *privileged = tables = est._feature_tables()
    score = _baseline_score(est, X, y, target_values["classes"])
    optional_parts = {
        "path": path,
        "relations": relations,
        "cheapest_models": design,
        "small_set": small_set,
        "sufficiency": sufficiency,
    }
    body = {
        "kind": BOUNDS,
        "method": type(est).__name__,
        "task": est.task.name,
        "task_note": task_note,
        "table": {
            "name": table,
            "target": target,
            "n_rows": None if y is None else len(np.asarray(y)),
            "n_features": int(est.n_features_in_),
        },
        **target_values,
        "counts": {name: int((est.relevance_ == name).sum()) for name in CLASSES},
        **_rule(est, privileged),
        "features": to_json_value(feature_records(est._columns, features)),
        "privileged": to_json_value(
            [row for part in privileged for row in feature_records(est._columns, part)]
        ),
        "subproblems": est._subproblem_records(),
        "metric": None,
        "risk_bound": None,
        **est._document_parts(),
        **_levels(est),
        "score": score,
        "training_accuracy": score["training"] if score["name"] == "accuracy" else None,
        **_exactness(tables),
        **{name: None if part is None else part.to_dict() for name, part in optional_parts.items()},
        "not_reached": list(not_reached),
        "tol": _tolerance(est),
        "seed": to_json_value(settings.get("random_state")),
    }
    return make_document(body, settings=settings, warnings=warnings, command=command)


def _levels(est: Any) -> dict[str, Any]:
    """Return the effects of the levels of relevant features, if there are any."""
    levels = to_json_value([effects.to_dict() for effects in est._relevant_levels()])
    return {"levels": levels} if levels else {}


def _rule(est: Any, privileged: Sequence[Any]) -> dict[str, Any]:
    """Return the relevance rule, the false discovery rate and the p-value of each whole table.

    ``fdr`` is None unless features are tested. All values are None for mappings, whose features are
    not tested.
    """
    rules = [getattr(est, "rule_", None), *(table.rule for table in privileged)]
    return {
        "rule": rules[0],
        "fdr": float(est.fdr) if FDR in rules else None,
        "table_pvalue": getattr(est, "table_pvalue_", None),
        "privileged_rule": rules[1] if privileged else None,
        "privileged_table_pvalue": getattr(est, "privileged_table_pvalue_", None),
    }


def _baseline_score(
    est: Any, X: ArrayLike | None, y: ArrayLike | None, classes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return training and cross-validated scores of the baseline, and the score of a dummy model.

    Unknown values are None. With one subproblem per class, the whole model has no cross-validated
    score.
    """
    # Present only if C was chosen by cross-validation.
    cv_scores = np.atleast_1d(getattr(est, "cv_score_", ()))
    has_data = X is not None and y is not None
    class_sizes = [c["n_rows"] for c in classes if c["n_rows"] is not None]
    scores = {
        "name": est._score_name,
        "cross_validated": float(cv_scores[0]) if len(cv_scores) == 1 else None,
    }
    if est.scoring is not None:
        training = est._score(X, y) if has_data else None
        return {**scores, "training": training, "without_features": None}
    return {
        **scores,
        "training": est.task.training_score(est, X, y) if has_data else None,
        "without_features": est.task.chance(class_sizes),
    }


def ranked(features: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort feature entries by relevance class, then by descending upper bound."""
    return sorted(features, key=lambda f: (CLASSES.index(f["relevance"]), -f["upper"]))


def _exactness(tables: Sequence[Any]) -> dict[str, Any]:
    """Return the largest gap of exact bounds, and the number of features without exact bounds."""
    exact = np.concatenate([table.exact for table in tables])
    gap = np.concatenate([table.gap for table in tables])
    return {
        "largest_gap": float(np.max(gap[exact], initial=0.0)),
        "n_outer": int((~exact).sum()),
    }


def _tolerance(est: Any) -> float | None:
    """Return the largest gap that exact bounds were allowed, relative to the norm."""
    tol = getattr(est, "tol", None)
    return None if tol is None else float(tol)


# Columns of tests; they are shown only if some feature was tested.
TEST_COLUMNS = ("qvalue", "pvalue")


def document_columns(
    document: Mapping[str, Any], features: Sequence[Mapping[str, Any]]
) -> list[Column]:
    """Return the columns that the report and the terminal show for the given features."""
    columns = MAPPING_COLUMNS if document.get("metric") else FEATURE_COLUMNS
    return [
        column
        for column in columns
        if column.name not in TEST_COLUMNS
        or any(feature[column.name] is not None for feature in features)
    ]
