"""How good the baseline is, in the terms of its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import d2_absolute_error_score

from .wording import WORDINGS


def baseline_score(
    est: Any, X: ArrayLike | None, y: ArrayLike | None, classes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Score of the baseline on the rows it was trained on and on others, and of no model.

    Parameters
    ----------
    est : estimator
        Fitted.
    X, y : array-like or None
        What it was fitted on.
    classes : sequence of mappings
        As in the summary.

    Returns
    -------
    dict
        None in place of what is not known. Where each class has a problem of its own, there is no
        cross-validated score of all together.
    """
    known = X is not None and y is not None
    task = est._task
    # Only there if C was chosen by it.
    unseen = np.atleast_1d(getattr(est, "cv_score_", ()))
    return {
        "name": WORDINGS[task].score,
        "cross_validated": float(unseen[0]) if len(unseen) == 1 else None,
        "training": _TRAINING[task](est, X, y) if known else None,
        "without_features": _WITHOUT_FEATURES[task](classes),
    }


def accuracy(est: Any, X: Any, y: Any) -> float:
    """Share of the rows that are put into their class."""
    return float((est.predict(X) == np.asarray(y)).mean())


def _deviation_explained(est: Any, X: Any, y: Any) -> float:
    return float(d2_absolute_error_score(np.asarray(y, dtype=float), est.predict(X)))


def _class_deviation_explained(est: Any, X: Any, y: Any) -> float:
    """Classes counted 0, 1, 2 and so on, whatever they are called."""
    actual, predicted = (np.searchsorted(est.classes_, c) for c in (y, est.predict(X)))
    return float(d2_absolute_error_score(actual, predicted))


def _area_under_curve(est: Any, X: Any, y: Any) -> float:
    return float(est.auc_)


def _majority(classes: Sequence[Mapping[str, Any]]) -> float | None:
    """What always naming the most frequent class would achieve."""
    rows = [c["n_rows"] for c in classes if c["n_rows"] is not None]
    return max(rows) / sum(rows) if rows else None


_TRAINING: dict[str, Callable[[Any, Any, Any], float]] = {
    "classification": accuracy,
    "regression": _deviation_explained,
    "ordinal": _class_deviation_explained,
    "ranking": _area_under_curve,
    "metric": accuracy,
}
_WITHOUT_FEATURES: dict[str, Callable[[Sequence[Mapping[str, Any]]], float | None]] = {
    "classification": _majority,
    "regression": lambda classes: 0.0,
    "ordinal": lambda classes: 0.0,
    "ranking": lambda classes: 0.5,
    "metric": _majority,
}
