"""What a report says, as plain values that JSON can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._validation import feature_names
from ..bounds.design import CheapestModels
from ..bounds.path import BoundsPath, runs_of_equal_values
from ..bounds.relations import CUT, Relations, by_group
from ..bounds.task import accuracy, baseline_score
from ..relevance import CLASSES
from ..terms.layout import baseline_weights, privileged_baseline_weights, privileged_names
from .document import to_json_value, versions


def summarize_design(design: CheapestModels) -> dict[str, Any]:
    """The cheapest models as plain values that JSON can hold.

    Parameters
    ----------
    design : Design

    Returns
    -------
    dict
        ``models`` in order of their cost, ``core``, ``complete``, the ``costs`` of all features and
        what there is to know of the baseline.
    """
    return {
        "models": [
            {
                "features": model.features,
                "cost": model.cost,
                "proven": model.proven,
                "gap": model.gap,
                "score": model.score,
                "score_error": model.score_error,
            }
            for model in design
        ],
        "core": design.core(),
        "complete": design.complete,
        "costs": dict(zip(design.feature_names, design.costs.tolist(), strict=True)),
        "baseline": {
            "n_features": int(design.baseline_used.sum()),
            "cost": design.baseline_cost,
            "score": design.baseline_score,
            "score_error": design.baseline_score_error,
        },
    }


def summarize_metric(est: Any) -> dict[str, Any] | None:
    """The rows of a mapping and the errors by dimension, as plain values that JSON can hold.

    Parameters
    ----------
    est : estimator
        Fitted.

    Returns
    -------
    dict or None
        None of an estimator whose models are no mappings. ``rows`` has for each row of the
        mapping ``lower`` and ``upper`` of every feature, and ``raw``, its weights as learned (None
        if there are fewer of those); ``curve`` the errors by dimension, None if they were not
        looked at; ``learner`` what learned the metric, None if it was given.
    """
    if not hasattr(est, "row_interval_"):
        return None
    raw = est.raw_mapping_
    return {
        "effective_dimension": int(est.effective_dimension_),
        "norm": float(est.baseline_.norm_),
        "learner": type(est.learner_).__name__ if hasattr(est, "learner_") else None,
        "rows": [
            {
                "raw": raw[index].tolist() if index < len(raw) else None,
                "lower": interval[:, 0].tolist(),
                "upper": interval[:, 1].tolist(),
            }
            for index, interval in enumerate(est.row_interval_)
        ],
        "curve": _curve(getattr(est, "dimension_curve_", None)),
    }


def _curve(curve: Any) -> dict[str, Any] | None:
    if curve is None:
        return None
    return {
        "dimensions": curve.dimensions.tolist(),
        "test_error": curve.test_error.mean(axis=1).tolist(),
        "train_error": curve.train_error.mean(axis=1).tolist(),
        "raw_test_error": float(np.mean(curve.raw_test_error)),
    }


def summarize_path(path: BoundsPath) -> dict[str, Any]:
    """A path as plain values that JSON can hold.

    Parameters
    ----------
    path : BoundsPath

    Returns
    -------
    dict
        ``param``, ``values`` and for each feature ``name``, ``lower``, ``upper``, ``baseline``,
        ``relevance`` at each value, and ``ranges``: from which value to which it keeps its class.
    """
    return {
        "param": path.param,
        "values": path.values.tolist(),
        "features": [
            {
                "name": name,
                "lower": path.interval[:, j, 0].tolist(),
                "upper": path.interval[:, j, 1].tolist(),
                "baseline": path.baseline[:, j].tolist(),
                "relevance": path.relevance[:, j].tolist(),
                "ranges": [
                    {
                        "relevance": relevance,
                        "first": float(path.values[start]),
                        "last": float(path.values[stop - 1]),
                    }
                    for relevance, start, stop in runs_of_equal_values(path.relevance[:, j])
                ],
            }
            for j, name in enumerate(path.feature_names)
        ],
    }


def summarize_relations(relations: Relations) -> dict[str, Any]:
    """Relations as plain values that JSON can hold.

    Parameters
    ----------
    relations : Relations

    Returns
    -------
    dict
        ``features``, the relevant ones, those of a group next to each other; ``matrix``, what
        becomes of each of them, by rows, with each other; ``groups``; and ``cut``, from which size
        on a relation counts.
    """
    shown = by_group(relations, None)
    return {
        "features": [relations.feature_names[j] for j in shown],
        "group": [int(relations.labels_[j]) for j in shown],
        "matrix": relations.relations_[shown][:, shown].tolist(),
        "groups": [
            {
                "features": group.features,
                "relevance": group.relevance,
                "lower": group.lower,
                "upper": group.upper,
                "share": group.share,
            }
            for group in relations.feature_groups_
        ],
        "cut": CUT,
    }


def ranked(features: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Features by relevance, the strong ones first, and then by falling upper bound."""
    return sorted(features, key=lambda f: (CLASSES.index(f["relevance"]), -f["upper"]))


# Raised when a field changes its meaning or goes away, so that readers of the JSON can tell.
FORMAT_VERSION = 1


_OF_RISK_BOUND = (
    "failure_probability",
    "loss_part",
    "complexity_part",
    "offset_part",
    "confidence_part",
    "baseline",
    "equivalent",
    "added_by_slack",
    "training_error",
    "radius",
    "n_rows",
    "is_vacuous",
    "interpretation",
)


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
    warnings: Iterable[str] = (),
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Everything worth telling about a fitted estimator, ready for JSON and :func:`render`.

    Parameters
    ----------
    est : ClassificationBounds, RegressionBounds, OrdinalBounds, RankingBounds or MetricBounds
        Fitted.
    X : array-like of shape (n_samples, n_features), default=None
        What it was fitted on; with ``y`` it gives the numbers of rows and the score.
    y : array-like of shape (n_samples,), default=None
    table : str, default=None
        Name of the table.
    target : str, default=None
        Name of the target.
    task_note : str, default=None
        How the task was found, if it was not given.
    path : BoundsPath, default=None
        What :func:`allrelevant.bounds_path` gave for the same data; adds a section.
    relations : Relations, default=None
        What ``est.relations()`` gave; adds a section.
    design : Design, default=None
        What ``est.cheapest()`` gave; adds a section.
    warnings : iterable of str, default=()
        What the reader should know besides.
    command : str, default=None
        The command line that made the report.
    created : datetime, default=None
        By default now.

    Returns
    -------
    dict
        Of dicts, lists, strings, numbers, booleans and None. Features are in the order of the
        table.

    Examples
    --------
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
    >>> bounds_document(bounds, data.X, data.y)["table"]["n_rows"]
    400
    """
    check_is_fitted(est)
    settings = {name: to_json_value(value) for name, value in est.get_params(deep=False).items()}
    classes = _classes(est, y)
    known = X is not None and y is not None
    return {
        "format_version": FORMAT_VERSION,
        "method": type(est).__name__,
        "created": (created or datetime.now(UTC)).isoformat(timespec="seconds"),
        "command": command,
        "task": est._task,
        "task_note": task_note,
        "table": {
            "name": table,
            "target": target,
            "n_rows": None if y is None else len(np.asarray(y)),
            "n_features": int(est.n_features_in_),
        },
        "classes": classes,
        "values": _values(est, y),
        "counts": {name: int((est.relevance_ == name).sum()) for name in CLASSES},
        "features": _features(est),
        "privileged": _privileged(est),
        "problems": _problems(est),
        "metric": summarize_metric(est),
        "risk_bound": _risk_bounds(est),
        "score": baseline_score(est, X, y, classes),
        "training_accuracy": accuracy(est, X, y) if known and _is_classification(est) else None,
        **_proof(est),
        "path": None if path is None else summarize_path(path),
        "relations": None if relations is None else summarize_relations(relations),
        "design": None if design is None else summarize_design(design),
        "settings": settings,
        "seed": settings.get("random_state"),
        "versions": versions(),
        "warnings": list(warnings),
    }


def _is_classification(est: Any) -> bool:
    return bool(est._task in ("classification", "metric"))


def _classes(est: Any, y: ArrayLike | None) -> list[dict[str, Any]]:
    """The classes in their order; none where the target is a number."""
    if not hasattr(est, "classes_"):
        return []
    rows = None if y is None else Counter(np.asarray(y).tolist())
    return [
        {"label": label, "n_rows": None if rows is None else rows[label]}
        for label in est.classes_.tolist()
    ]


def _values(est: Any, y: ArrayLike | None) -> dict[str, float] | None:
    """Where the numbers to predict lie; None where there are classes, or nothing is known."""
    if y is None or hasattr(est, "classes_"):
        return None
    values = np.asarray(y, dtype=float)
    return {"min": float(values.min()), "max": float(values.max()), "mean": float(values.mean())}


def _features(est: Any) -> list[dict[str, Any]]:
    columns = {
        "name": feature_names(est),
        "relevance": est.relevance_.tolist(),
        "lower": est.interval_[:, 0].tolist(),
        "upper": est.interval_[:, 1].tolist(),
        **_signed_columns(est),
        "baseline": baseline_weights(est).tolist(),
        "exact": est.exact_.tolist(),
        "gap_lower": est.gap_[:, 0].tolist(),
        "gap_upper": est.gap_[:, 1].tolist(),
    }
    if _is_several(est):
        columns["per_class"] = _per_class(est)
    return _rows(columns)


def _signed_columns(est: Any) -> dict[str, list[float]]:
    """The weights with their signs; rows of a mapping add up without, so its raw size instead."""
    if hasattr(est, "row_interval_"):
        return {"raw": np.abs(est.raw_mapping_).sum(axis=0).tolist()}
    return {
        "signed_min": est.signed_interval_[:, 0].tolist(),
        "signed_max": est.signed_interval_[:, 1].tolist(),
    }


def _is_several(est: Any) -> bool:
    """Whether each class has a problem of its own."""
    return len(getattr(est, "class_interval_", ())) > 1


def _privileged(est: Any) -> list[dict[str, Any]]:
    if not hasattr(est, "n_privileged_in_"):
        return []
    return _rows(
        {
            "name": privileged_names(est),
            "relevance": est.privileged_relevance_.tolist(),
            "lower": est.privileged_interval_[:, 0].tolist(),
            "upper": est.privileged_interval_[:, 1].tolist(),
            "signed_min": est.privileged_signed_interval_[:, 0].tolist(),
            "signed_max": est.privileged_signed_interval_[:, 1].tolist(),
            "baseline": privileged_baseline_weights(est).tolist(),
            "exact": est.privileged_exact_.tolist(),
            "gap_lower": est.privileged_gap_[:, 0].tolist(),
            "gap_upper": est.privileged_gap_[:, 1].tolist(),
        }
    )


def _rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _proof(est: Any) -> dict[str, Any]:
    """The largest gap of an exact bound, and the number of features without, privileged or not."""
    exact, gap = est.exact_, est.gap_
    if hasattr(est, "n_privileged_in_"):
        exact = np.concatenate([exact, est.privileged_exact_])
        gap = np.concatenate([gap, est.privileged_gap_])
    return {
        "largest_gap": float(np.max(gap[exact], initial=0.0)),
        "n_outer": int((~exact).sum()),
    }


def _per_class(est: Any) -> list[list[dict[str, Any]]]:
    """For each feature, its interval and relevance for each class against the rest."""
    return [
        [
            {"relevance": str(relevance), "lower": float(interval[0]), "upper": float(interval[1])}
            for relevance, interval in zip(relevances, intervals, strict=True)
        ]
        for relevances, intervals in zip(
            est.class_relevance_.T, est.class_interval_.transpose(1, 0, 2), strict=True
        )
    ]


def _problems(est: Any) -> list[dict[str, Any]]:
    """One of all classes, or with more than two classes one of each against the rest."""
    if hasattr(est, "row_interval_"):
        norm = float(est.baseline_.norm_)
        return [{"label": None, "cutoff": _cutoff(est.cutoff_), "baseline": {"norm": norm}}]
    labels = est.classes_.tolist() if _is_several(est) else [None]
    accuracies = [None] * len(labels)
    # Only there if C was chosen by it.
    if _is_classification(est) and hasattr(est, "cv_score_"):
        accuracies = np.atleast_1d(est.cv_score_).tolist()
    baseline = est.baseline_
    values = zip(
        labels,
        np.atleast_2d(est.cutoff_),
        *(np.atleast_1d(v) for v in (baseline.C_, baseline.norm_, baseline.loss_)),
        accuracies,
        strict=True,
    )
    problems: list[dict[str, Any]] = [
        {
            "label": label,
            "cutoff": _cutoff(cutoff),
            "baseline": {"C": float(C), "norm": float(norm), "loss": float(loss)},
            "cv_accuracy": score,
        }
        for label, cutoff, C, norm, loss, score in values
    ]
    if hasattr(est, "epsilon_"):
        problems[0]["baseline"]["epsilon"] = float(est.epsilon_)
    if hasattr(est, "n_privileged_in_"):
        for problem, cutoff in zip(problems, np.atleast_2d(est.privileged_cutoff_), strict=True):
            problem["privileged_cutoff"] = _cutoff(cutoff)
    return problems


def _cutoff(cutoff: Any) -> dict[str, float]:
    return {"lower": float(cutoff[0]), "upper": float(cutoff[1])}


def _risk_bounds(est: Any) -> list[dict[str, Any]] | None:
    """One of each problem; None of estimators that have none."""
    if not hasattr(est, "risk_bound"):
        return None
    found = est.risk_bound()
    bounds = found if isinstance(found, list) else [found]
    return [{name: getattr(bound, name) for name in _OF_RISK_BOUND} for bound in bounds]
