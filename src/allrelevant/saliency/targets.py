"""The target as gains want it: codes of classes, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..exceptions import InputError


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and the place of each row among them.

    Raises
    ------
    InputError
        If there is a single one.

    Examples
    --------
    >>> import numpy as np
    >>> classes_and_codes(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The target has a single class, {str(classes[0])!r}: there is nothing to tell apart. "
            "At least two classes are needed."
        )
    return classes, codes


def numbers(y: NDArray[Any]) -> Vector:
    """The numbers.

    Raises
    ------
    InputError
        If they are all the same, or cannot be computed with.

    Examples
    --------
    >>> import numpy as np
    >>> numbers(np.array([0.1, 0.1, 0.1]))
    Traceback (most recent call last):
        ...
    allrelevant.exceptions.InputError: The target has the standard deviation 0: there is nothing \
to predict, or its unit is out of reach. Give numbers that differ, in a unit closer to one.
    """
    values = y.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        # Of equal numbers rounding can make a spread that is not zero.
        spread = values.std() if values.min() < values.max() else 0.0
    if not 0 < spread < np.inf:
        raise InputError(
            f"The target has the standard deviation {spread:g}: there is nothing to predict, or "
            "its unit is out of reach. Give numbers that differ, in a unit closer to one."
        )
    return values
