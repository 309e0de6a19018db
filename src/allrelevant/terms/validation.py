"""Validation of feature tables as users pass them to ``fit`` and ``predict``.

Arrays and data frames of numbers are used as they are. Data frames with text, categories or missing
values are encoded (see :mod:`.encoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import validate_data

from .._typing import Table
from .._validation import MAX_SIZE, check_column_sizes, check_finite, feature_names, to_floats
from ..exceptions import InputError, warn_caller
from .columns import Column, Frame, columns_from_frame
from .encoding import EncodingOptions, TableEncoding, as_columns, fit_encoding, needs_encoding
from .layout import WeightLayout

# Minimum number of rows of a table.
MIN_SAMPLES = 4


def validate_table(
    est: Any, X: Any, y: Any = "no_validation", *, max_size: float = MAX_SIZE, **options: Any
) -> Any:
    """Validate ``X`` as :func:`sklearn.utils.validation.validate_data` does.

    In addition, values must be finite and within the range of the computations, and the indices of
    a sparse table must be in range. scikit-learn does not know the column names of a
    :class:`Frame`: they are set, or compared with those of the fit, here. ``max_size`` is the
    largest allowed absolute value.
    """
    check_sparse_indices(X)
    options["ensure_all_finite"] = False
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # sums of targets, to find NaN
            validated = _validate_table(est, X, y, **options)
    except (OverflowError, TypeError, ValueError):
        _check_numbers(X, y)
        raise
    values = validated[0] if isinstance(validated, tuple) else validated
    names = feature_names(est)
    check_finite(values, names)
    check_column_sizes(values, names, max_size)
    return validated


def _validate_table(est: Any, X: Any, y: Any, **options: Any) -> Any:
    if not isinstance(X, Frame):
        return validate_data(est, X, y, **options)
    if options.pop("reset", True):
        validated = validate_data(est, X.to_numpy(), y, **options)
        est.feature_names_in_ = np.array(X.columns, dtype=object)
        return validated
    names = list(getattr(est, "feature_names_in_", X.columns))
    if names != X.columns or len(names) != est.n_features_in_:
        raise ValueError("The feature names should match those that were passed during fit.")
    return check_array(X.to_numpy(), **options)


def check_sparse_indices(X: Any) -> None:
    """Raise if the indices of a sparse table are out of range.

    Compiled code would otherwise read or write outside of the table.
    """
    if not sp.issparse(X):
        return
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            _check_coordinates(X)
    except ValueError as error:
        raise InputError(
            f"The sparse table X is not valid: {error}. Create it again, for example from the "
            "rows and columns of its entries with scipy.sparse.coo_array."
        ) from error


def _check_coordinates(X: sp.coo_array) -> None:
    for indices, size in zip((X.row, X.col), X.shape, strict=True):
        if len(indices) and not (indices.min() >= 0 and indices.max() < size):
            raise ValueError(f"indices must be from 0 to {size - 1}")


def _check_numbers(X: Any, y: Any) -> None:
    """Raise an error that names the cause if a table or a target cannot be converted to numbers."""
    for column in columns_from_frame(X) or ():
        if not column.is_numeric:
            kind = "dates" if column.kind == "date" else "text"
            raise InputError(
                f"Column {column.name!r} contains {kind}, but this estimator requires numbers. "
                "Encode the column (OrdinalEncoder, OneHotEncoder), or remove it."
            )
    if not sp.issparse(X):
        _check_overflow(X, "X")
    _check_overflow(y, "the target")


def _check_overflow(values: Any, what: str) -> None:
    """Raise if an integer is too large for a floating-point number; ignore other problems."""
    try:
        objects = np.asarray(values, dtype=object)
        objects.astype(np.float64)
    except OverflowError:
        to_floats(objects.ravel().tolist(), what)
    except (TypeError, ValueError):
        return


@dataclass(frozen=True)
class FeatureTable:
    """Feature table as numbers; ``encoding`` is None if the columns are used as they are."""

    values: Table
    encoding: TableEncoding | None

    @property
    def layout(self) -> WeightLayout:
        """Assignment of columns to features, without names."""
        if self.encoding is None:
            return WeightLayout.from_tables([self.values])
        return WeightLayout(len(self.encoding.features), blocks=self.encoding.blocks)

    def warn_notes(self) -> None:
        """Warn about pooled levels and ignored columns."""
        for note in () if self.encoding is None else self.encoding.notes:
            warn_caller(note)


def read_features(
    est: Any,
    X: Any,
    y: Any,
    options: EncodingOptions,
    *,
    y_numeric: bool,
    min_samples: int = MIN_SAMPLES,
    max_size: float = MAX_SIZE,
    **validation: Any,
) -> tuple[FeatureTable, Any]:
    """Validate the training table and the target; return the table as numbers and the target.

    This sets ``n_features_in_`` and ``feature_names_in_`` of the estimator. ``validation`` are
    further options of :func:`validate_table` for tables that need no encoding.
    """
    columns = columns_from_frame(X)
    if not options.is_needed and (columns is None or not needs_encoding(columns)):
        values, y = validate_table(
            est,
            X,
            y,
            **{"accept_sparse": "csr", "dtype": np.float64, **validation},
            ensure_min_samples=min_samples,
            y_numeric=y_numeric,
            max_size=max_size,
        )
        return FeatureTable(values, None), y
    columns = as_columns(check_array(X)) if columns is None else columns
    check_finite_columns(columns, max_size)
    y = validate_data(est, X="no_validation", y=y, y_numeric=y_numeric)
    check_feature_names(est, X, reset=True)
    if isinstance(X, Frame):
        est.feature_names_in_ = np.array(X.columns, dtype=object)
    est.n_features_in_ = len(columns)
    encoding = fit_encoding(columns, options)
    values = encoding.encode(X)
    check_consistent_length(values, y)
    check_array(values, ensure_min_samples=min_samples, ensure_all_finite=False)
    return FeatureTable(values, encoding), y


def read_new_rows(est: Any, X: Any, encoding: TableEncoding | None) -> Any:
    """Validate a table of new rows; return it in the form that fitted models accept."""
    if encoding is not None:
        if not isinstance(X, Frame):
            check_feature_names(est, X, reset=False)
        return X
    columns = columns_from_frame(X) or []
    unsuitable = [column.name for column in columns if needs_encoding([column])]
    if unsuitable:
        raise InputError(
            f"Column {unsuitable[0]!r} has words or missing values, but had only numbers in the "
            "training table. Convert it as for training."
        )
    return validate_table(est, X, accept_sparse="csr", dtype=np.float64, reset=False)


def check_finite_columns(columns: list[Column], max_size: float = MAX_SIZE) -> None:
    """Raise if a column of numbers contains infinity or numbers out of range."""
    for column in columns:
        if column.has_levels:
            continue
        if np.isinf(column.values).any():
            raise InputError(
                f"Column {column.name!r} contains infinity. Replace it by a number, or leave the "
                "cell empty if the value is missing."
            )
        check_column_sizes(column.values[:, None], [column.name], max_size)
