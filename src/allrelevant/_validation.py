"""Input validation for all estimators: targets, feature values and numbers of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from ._params import MAX_COUNT, MAX_NUMBER, MAX_REPEATS, MAX_SLACK, MIN_NUMBER
from ._typing import Table, Vector
from .exceptions import InputError, warn_caller

# Parameter constraints: a count, a number of repetitions, a fraction, positive and nonnegative
# numbers, and the n_jobs of every estimator.
COUNT = Interval(Integral, 1, MAX_COUNT, closed="both")
REPEATS = Interval(Integral, 1, MAX_REPEATS, closed="both")
FRACTION = Interval(Real, 0, 1, closed="neither")
POSITIVE = Interval(Real, 0, MAX_NUMBER, closed="right")
NONNEGATIVE = Interval(Real, 0, MAX_NUMBER, closed="both")
SLACK = Interval(Real, 0, MAX_SLACK, closed="both")
N_JOBS: list[Any] = [
    COUNT,
    Interval(Integral, None, -1, closed="right"),
    None,
]

# Range of the numbers that can be computed with. Double precision ends near 1e308, but squares and
# products of squares are computed almost everywhere; within this range, none of them overflows or
# vanishes.
# Smallest and largest allowed value of the largest absolute number in a column.
MIN_SIZE, MAX_SIZE = 1e-100, 1e100

# The same for numbers that are used without scaling: columns that are not standardized, sample
# weights, class weights and costs.
MIN_UNSCALED, MAX_UNSCALED = MIN_NUMBER, MAX_NUMBER

# Largest absolute value of numbers in single precision, which ends at 3e38.
MAX_SINGLE = 1e37

# Largest integer up to which every integer is a floating-point number.
MAX_EXACT_INTEGER = 2**53

MAX_LISTED_NAMES = 10

# Targets with at most this number of rows are never suspected to be numeric.
MIN_ROWS_TO_JUDGE = 20


def feature_names(est: Any) -> list[str]:
    """Return the feature names of a fitted estimator, or ``x0, x1, ...`` if it has none."""
    names = getattr(est, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(est.n_features_in_)] if names is None else [str(n) for n in names]
    )


def resolve_n_features(requested: Any, n_features: int) -> int:
    """Convert a number or a fraction of features to the number of features to select.

    >>> resolve_n_features(3, 10), resolve_n_features(0.25, 10), resolve_n_features(0.01, 10)
    (3, 2, 1)
    """
    is_count = isinstance(requested, Integral)
    if is_count and 1 <= int(requested) <= n_features:
        return int(requested)
    if isinstance(requested, Real) and not is_count and 0 < float(requested) < 1:
        return max(1, int(float(requested) * n_features))
    raise InputError(
        f"Cannot select {requested!r} of {n_features} features. Pass a number from 1 to "
        f"{n_features}, or a fraction between 0 and 1."
    )


def encode_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and the class code of each row; raise if there is only one class.

    >>> encode_classes(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The target has a single class, {str(classes[0])!r}. Pass a target with at least two "
            "classes."
        )
    return classes, codes


def check_labels(y: NDArray[Any]) -> None:
    """Raise unless a target consists of class labels; warn if most rows have their own class."""
    check_distinct_labels(y)
    kind = str(type_of_target(y))
    if kind not in ("binary", "multiclass", "multilabel-indicator", "multiclass-multioutput"):
        raise InputError(
            f"Unknown label type: {kind}. Classification requires class labels. Convert the labels "
            "to integers or text. To predict numbers, use an estimator for regression."
        )
    n_classes, n_samples = len(np.unique(y)), len(y)
    if n_samples > MIN_ROWS_TO_JUDGE and 2 * n_classes > n_samples:
        warn_caller(
            f"The target has {n_classes} classes in {n_samples} rows. If it is a numeric quantity, "
            "use an estimator for regression."
        )


def check_distinct_labels(y: NDArray[Any]) -> None:
    """Raise if class labels cannot be distinguished or compared with each other.

    >>> check_distinct_labels(np.array(["yes", 3], dtype=object))
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The class labels are partly text, such as 'yes', and partly \
of type 'int', such as 3. Convert all of them to text, or all of them to numbers.
    """
    if y.dtype.kind == "O":
        _check_label_types(y)
    elif y.dtype.kind == "f":
        largest = float(np.abs(y).max(initial=0.0))
        if largest > MAX_EXACT_INTEGER and not is_continuous(y):
            raise InputError(
                f"The class labels are too large to be distinguished as numbers: the largest is "
                f"{largest:g}, but it must be at most 2**53. Convert the labels to text."
            )


def is_continuous(y: NDArray[Any]) -> bool:
    """Return whether a target contains numbers that are not integers."""
    return bool(y.dtype.kind == "f" and (y != np.round(y)).any())


def _check_label_types(y: NDArray[Any]) -> None:
    examples = {type(label): label for label in y.ravel().tolist()[::-1]}
    words = [label for kind, label in examples.items() if issubclass(kind, str)]
    others = [label for kind, label in examples.items() if not issubclass(kind, str)]
    if words and others:
        raise InputError(
            f"The class labels are partly text, such as {words[0]!r}, and partly of type "
            f"{type(others[0]).__name__!r}, such as {others[0]!r}. Convert all of them to text, or "
            "all of them to numbers."
        )
    if others and all(issubclass(kind, Integral) for kind in examples):
        to_floats(y.ravel().tolist(), "the target")


def check_class_weights(weights: Mapping[Any, Any], classes: NDArray[Any]) -> Vector:
    """Return the weight of each class; classes that are missing from the mapping have weight 1.

    >>> check_class_weights({"a": 2.0}, np.array(["a", "b"])).tolist()
    [2.0, 1.0]
    """
    labels = classes.tolist()
    unknown = [label for label in weights if label not in labels]
    if unknown:
        raise InputError(
            f"class_weight contains {unknown[0]!r}, which is not a class. Use only the classes "
            f"{labels}."
        )
    for label, weight in weights.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (is_number and MIN_UNSCALED <= weight <= MAX_UNSCALED):
            raise InputError(
                f"The weight of class {label!r} must be a number from {MIN_UNSCALED:g} to "
                f"{MAX_UNSCALED:g} (got {weight!r}). To leave out a class, remove its rows."
            )
    return np.array([float(weights.get(label, 1.0)) for label in labels])


def check_numeric_target(y: NDArray[Any], max_size: float = MAX_SIZE) -> Vector:
    """Return the target as floats; raise if it is constant or if its numbers are out of range.

    >>> check_numeric_target(np.array([0.1, 0.1, 0.1]))
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The target has a single value, 0.1, so there is nothing to \
predict. Check that the right column is used as the target.
    """
    values = to_floats(y, "the target")
    check_size(values, "target", max_size=max_size)
    # Rounding can give equal values a standard deviation above zero.
    std = values.std() if values.min() < values.max() else 0.0
    if not std > 0:
        raise InputError(
            f"The target has a single value, {values[0]:g}, so there is nothing to predict. Check "
            "that the right column is used as the target."
        )
    return values


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Raise if a table has NaN or infinite values; the message names the first such feature."""
    values = X.data if sp.issparse(X) else X
    for kind, is_kind in (("NaN", np.isnan), ("infinite", np.isinf)):
        mask = is_kind(values)
        number = int(mask.sum())
        if number:
            columns = X.indices[mask] if sp.issparse(X) else np.flatnonzero(mask.any(axis=0))
            raise InputError(
                f"X contains {kind} values ({number} in total), first in feature "
                f"{names[int(columns.min())]!r}, but all values must be finite. Impute these "
                "values, or remove the affected rows or features."
            )


def check_column_sizes(X: Table, names: Sequence[str], max_size: float = MAX_SIZE) -> None:
    """Raise if the numbers in a column are too large or too small; NaN is ignored.

    >>> check_column_sizes(np.array([[1.0, 2e200], [2.0, 1e200]]), ["age", "dose"])
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The numbers in column 'dose' are too large: their largest \
absolute value is 2e+200, but it must be at most 1e+100. Correct the values, or divide the column \
by a constant.
    """
    size = _column_sizes(X).astype(np.float64)  # the limits exceed the range of float32
    for j in np.flatnonzero((size > max_size) | ((size > 0) & (size < MIN_SIZE)))[:1].tolist():
        _raise_size(f"column {names[j]!r}", "column", float(size[j]), MIN_SIZE, max_size)


def check_size(
    values: NDArray[Any], what: str, min_size: float = MIN_SIZE, max_size: float = MAX_SIZE
) -> None:
    """Raise if the largest absolute value of an array is outside the range; zero is allowed.

    ``what`` names the array, such as ``"target"``.
    """
    size = float(np.abs(values).max(initial=0.0))
    if size > max_size or 0 < size < min_size:
        _raise_size(f"the {what}", what, size, min_size, max_size)


def check_unscaled(values: NDArray[Any], what: str) -> None:
    """Raise if the largest absolute value of numbers used without scaling is out of range."""
    check_size(values, what, MIN_UNSCALED, MAX_UNSCALED)


def to_floats(values: Any, what: str) -> Vector:
    """Convert numbers to float64; raise if an integer is beyond the range of float64.

    >>> to_floats([10**400], "column 'a'")
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: An integer in column 'a' is too large for a floating-point \
number. Convert identifiers and class labels to text, or divide the numbers by a constant.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise InputError(
            f"An integer in {what} is too large for a floating-point number. Convert identifiers "
            "and class labels to text, or divide the numbers by a constant."
        ) from None


def _column_sizes(X: Table) -> Vector:
    """Return the largest absolute value of each column; NaN is ignored."""
    if sp.issparse(X):
        size = np.zeros(X.shape[1])
        stored = X.tocoo()
        np.fmax.at(size, stored.col, np.abs(stored.data))
        return size
    low, high = (ufunc.reduce(X, axis=0, initial=0.0) for ufunc in (np.fmin, np.fmax))
    return np.maximum(high, -low)


def _raise_size(place: str, what: str, size: float, low: float, high: float) -> None:
    if size > high:
        problem, limit, remedy = "large", f"at most {high:g}", "divide"
    else:
        problem, limit, remedy = "small", f"at least {low:g}", "multiply"
    raise InputError(
        f"The numbers in {place} are too {problem}: their largest absolute value is {size:g}, but "
        f"it must be {limit}. Correct the values, or {remedy} the {what} by a constant."
    )


def check_groups(groups: ArrayLike | None, n_samples: int) -> NDArray[Any] | None:
    """Return row groups as an array, or None; raise if there is not one per row."""
    if groups is None:
        return None
    checked: NDArray[Any] = column_or_1d(groups)
    check_consistent_length(np.empty(n_samples), checked)
    return checked


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Vector | None:
    """Return the weights of the rows, or None; raise if they are negative or all zero."""
    if sample_weight is None:
        return None
    rows = np.empty((n_samples, 1))
    weight: Vector = check_sample_weight(
        sample_weight if isinstance(sample_weight, Real) else to_floats(sample_weight, "weights"),
        rows,
        dtype=np.float64,
        ensure_non_negative=True,
    )
    check_unscaled(weight, "sample weights")
    return weight


def check_varying(n_constant: int, n_features: int) -> None:
    """Raise if all columns of a table are constant."""
    if n_constant == n_features:
        raise InputError(
            "All columns are constant, so there is nothing to analyze. Check how the table was "
            "read."
        )


def warn_constant_columns(
    names: Sequence[str],
    columns: Sequence[int] | NDArray[np.intp],
    consequence: str,
) -> None:
    """Warn about constant columns, if any."""
    if len(columns) == 0:
        return
    listed = ", ".join(repr(names[j]) for j in columns[:MAX_LISTED_NAMES])
    more = len(columns) - MAX_LISTED_NAMES
    warn_caller(
        f"{len(columns)} constant column(s) carry no information and are {consequence}: "
        f"{listed}{f' and {more} more' if more > 0 else ''}. Check that they were read correctly, "
        "or remove them."
    )
