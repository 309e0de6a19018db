"""A trained model and rows to ask it about, as users give them: checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..arrays import Table, Vector
from ..exceptions import InputError


def checked_rows(model: Any, X: Any, *, accept_sparse: bool = False) -> tuple[Table, list[str]]:
    """The rows as an array, and what their columns are called.

    Parameters
    ----------
    model : estimator or DifferentiableModel
    X : array-like or sparse matrix of shape (n, d)
    accept_sparse : bool, default=False

    Raises
    ------
    InputError
        If the table has other columns than the model was trained on, or another order of them.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> table = pd.DataFrame({"height": [1.0, 2.0], "width": [0.5, 3.0]})
    >>> model = Ridge().fit(table, [1.0, 2.0])
    >>> checked_rows(model, table[["width", "height"]])
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: Column 1 of X is 'width', and the model was trained on \
'height' there: give the columns in the order of its training.
    """
    _require_trained(model)
    names = _names(model, X)
    sparse = "csr" if accept_sparse else False
    rows = check_array(X, accept_sparse=sparse, dtype=[np.float64, np.float32])
    width = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != width:
        raise InputError(f"X has {rows.shape[1]} features, and the model was trained on {width}.")
    return rows, names or [f"x{j}" for j in range(width)]


def row_labels(X: Any) -> Any:
    """What the rows of a DataFrame are called; None of other tables."""
    return getattr(X, "index", None) if hasattr(X, "columns") else None


def checked_units(units: ArrayLike, n_features: int) -> Vector:
    """What counts as one unit of each feature.

    Raises
    ------
    InputError
        If these are not one finite number for each, zero or above.
    """
    try:
        values = np.asarray(units, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"units must be numbers: {error}.") from error
    if values.shape != (n_features,):
        raise InputError(
            f"units must be one number for each of {n_features} features; their shape is "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("units must be finite, and zero or above.")
    return values


def _require_trained(model: Any) -> None:
    if hasattr(model, "best_estimator_"):
        raise InputError(f"Give the model inside this {type(model).__name__}: best_estimator_.")
    if hasattr(model, "__sklearn_tags__"):
        check_is_fitted(model)


def _names(model: Any, X: Any) -> list[str]:
    """Of the table, or else of what the model was trained on, if there are any."""
    given = [str(name) for name in getattr(X, "columns", ())]
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for place, (own, wanted) in enumerate(zip(given, known, strict=False)):
        if own != wanted:
            raise InputError(
                f"Column {place + 1} of X is {own!r}, and the model was trained on {wanted!r} "
                "there: give the columns in the order of its training."
            )
    return given or known
