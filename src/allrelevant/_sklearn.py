"""Access to private attributes of fitted scikit-learn estimators.

These attributes may change in any scikit-learn release. No other module uses them, so only this
file has to be adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import _safe_indexing


def fitted_gamma(svm: Any) -> float:
    """Return the kernel coefficient gamma of a fitted SVM, with "scale" and "auto" resolved."""
    return float(svm._gamma)


def take_columns(X: Any, columns: Sequence[int]) -> Any:
    """Return some columns of an array, a sparse matrix or a DataFrame, as the same type."""
    take = getattr(X, "take_columns", None)  # of a Frame, which scikit-learn does not know
    return take(columns) if take is not None else _safe_indexing(X, list(columns), axis=1)


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of an array, a sparse matrix, a list or a DataFrame, as the same type."""
    take = getattr(X, "take_rows", None)
    return take(rows) if take is not None else _safe_indexing(X, rows)
