"""Range of the numbers that can be computed with, and checks of arrays and of single values.

Double precision ends near 1e308, but squares and products of squares are computed almost
everywhere. Within the range allowed here, none of them overflows or vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._params import MAX_NUMBER, MIN_NUMBER
from ._typing import Table, Vector
from .exceptions import InputError

# Smallest and largest allowed value of the largest absolute number in a column.
MIN_SIZE, MAX_SIZE = 1e-100, 1e100

# The same for numbers that are used without scaling: columns that are not standardized, sample
# weights, class weights and costs.
MIN_UNSCALED, MAX_UNSCALED = MIN_NUMBER, MAX_NUMBER

# Largest absolute value of numbers in single precision, which ends at 3e38.
MAX_SINGLE = 1e37

# Largest integer up to which every integer is a floating-point number.
MAX_EXACT_INTEGER = 2**53


def check_column_sizes(X: Table, names: Sequence[str], max_size: float = MAX_SIZE) -> None:
    """Raise if the numbers in a column are too large or too small; NaN is ignored.

    >>> check_column_sizes(np.array([[1.0, 2e200], [2.0, 1e200]]), ["age", "dose"])
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The numbers in column 'dose' are too large: their largest \
absolute value is 2e+200, but it must be at most 1e+100. Correct the values, or divide the column \
by a constant.
    """
    size = _column_sizes(X)
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
