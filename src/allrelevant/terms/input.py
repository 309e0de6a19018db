"""Feature tables as users pass them to ``fit`` and ``predict``.

Arrays and data frames of numbers are used as they are. Data frames with text, categories or missing
values are encoded (see :mod:`.encoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from .._typing import Table
from ..exceptions import InputError
from .columns import Column, Frame, columns_from_frame
from .encoding import EncodingOptions, TableEncoding, as_columns, fit_encoding, needs_encoding

# Minimum number of rows of a table.
MIN_SAMPLES = 4


@dataclass(frozen=True)
class FeatureTable:
    """Feature table as numbers; ``encoding`` is None if the columns are used as they are."""

    values: Table
    names: list[str] | None
    encoding: TableEncoding | None


def read_features(
    est: Any, X: Any, y: Any, options: EncodingOptions, *, y_numeric: bool
) -> tuple[FeatureTable, Any]:
    """Validate the training table and the target; return the table as numbers and the target.

    This sets ``n_features_in_`` and ``feature_names_in_`` of the estimator.
    """
    columns = columns_from_frame(X)
    if not options.is_needed and (columns is None or not needs_encoding(columns)):
        values, y = validate_data(
            est,
            _as_array(X, columns),
            y,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=MIN_SAMPLES,
            y_numeric=y_numeric,
        )
        return FeatureTable(values, _set_names(est, X), None), y
    columns = as_columns(check_array(X) if columns is None else X)
    _check_finite(columns)
    encoding = fit_encoding(columns, options)
    y = validate_data(est, X="no_validation", y=y, y_numeric=y_numeric)
    check_feature_names(est, X, reset=True)
    _set_names(est, X)
    est.n_features_in_ = len(columns)
    values = encoding.encode(X)
    check_consistent_length(values, y)
    check_array(values, ensure_min_samples=MIN_SAMPLES, ensure_all_finite=False)
    return FeatureTable(values, encoding.names, encoding), y


def read_new_rows(est: Any, X: Any, encoding: TableEncoding | None) -> Any:
    """Validate a table of new rows; return it in the form that fitted models accept."""
    if encoding is None:
        columns = columns_from_frame(X)
        if columns is not None and needs_encoding(columns):
            bad = next(c.name for c in columns if not c.is_numeric or c.missing.any())
            raise InputError(
                f"Column {bad!r} has words or missing values, but had only numbers in the training "
                "table. Convert it as for training."
            )
        table = _as_array(_in_training_order(est, X), columns)
        return validate_data(est, table, accept_sparse="csr", dtype=np.float64, reset=False)
    check_feature_names(est, X, reset=False)
    return X


def _as_array(X: Any, columns: list[Column] | None) -> Any:
    return X.to_numpy() if columns is not None and isinstance(X, Frame) else X


def _in_training_order(est: Any, X: Any) -> Any:
    """Return a table that was read from a file with its columns in the order of ``fit``."""
    if not isinstance(X, Frame):
        return X
    return Frame(tuple(X[str(name)] for name in est.feature_names_in_))


def _set_names(est: Any, X: Any) -> list[str] | None:
    """Set the feature names of a table read from a file; return the names, None without names."""
    if isinstance(X, Frame):
        est.feature_names_in_ = np.array(X.columns, dtype=object)
    names = getattr(est, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _check_finite(columns: list[Column]) -> None:
    for column in columns:
        if not column.has_levels and np.isinf(column.values).any():
            raise InputError(
                f"Column {column.name!r} contains infinity. Replace it by a number, or leave the "
                "cell empty if the value is missing."
            )
