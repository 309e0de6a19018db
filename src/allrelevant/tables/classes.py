"""A target as class labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..extras import import_extra

if TYPE_CHECKING:
    import pandas as pd


def class_labels(y: pd.Series, target: str) -> NDArray[Any]:
    """The target as class labels: booleans, whole numbers or words.

    Parameters
    ----------
    y : pandas.Series
        Without missing values.
    target : str
        What messages call it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import pandas as pd
    >>> class_labels(pd.Series([1.0, 0.0, 1.0, 0.0]), "sick").tolist()
    [1, 0, 1, 0]
    """
    labels = _plain_labels(y, target)
    distinct = len(set(labels.tolist()))
    if distinct == 1:
        raise InputError(
            f"The target {target!r} has a single class, {labels[0]!s:.40}: there is nothing to "
            "tell apart. At least two classes are needed."
        )
    if distinct > 20 and 2 * distinct > len(labels):
        raise InputError(
            f"The target {target!r} has {distinct} distinct values in {len(labels)} rows: it does "
            "not look like a column of classes."
        )
    return labels


def _plain_labels(y: pd.Series, target: str) -> NDArray[Any]:
    types = import_extra("pandas", "cli").api.types
    values = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, _categorical()) else y
    if types.is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=bool)
    if types.is_integer_dtype(values.dtype):
        return values.to_numpy(dtype=np.int64)
    if types.is_float_dtype(values.dtype):
        return _whole_numbers(values.to_numpy(dtype=float), target)
    if types.is_datetime64_any_dtype(values.dtype) or types.is_timedelta64_dtype(values.dtype):
        raise InputError(f"The target {target!r} holds dates or times, not classes.")
    return np.array([str(value) for value in values], dtype=object)


def _categorical() -> type:
    return import_extra("pandas", "cli").CategoricalDtype


def _whole_numbers(values: NDArray[np.float64], target: str) -> NDArray[Any]:
    broken = values[(values != np.round(values)) | ~np.isfinite(values)]
    if len(broken):
        raise InputError(
            f"The target {target!r} looks continuous, with {len(set(values.tolist()))} distinct "
            f"values such as {broken[0]:g}: it is not a column of classes. If it is, write the "
            "classes as words or whole numbers."
        )
    return values.astype(np.int64)
