"""A target as the task at hand needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from .classes import class_labels, ordered_labels, two_class_labels
from .values import target_values

if TYPE_CHECKING:
    import pandas as pd

_READERS = {
    "classification": class_labels,
    "regression": target_values,
    "ordinal": ordered_labels,
    "ranking": two_class_labels,
}


def target_for(task: str, y: pd.Series, target: str) -> NDArray[Any]:
    """The target as labels or numbers, or a refusal that says why it does not suit the task.

    Parameters
    ----------
    task : {"classification", "regression", "ordinal", "ranking"}
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
    >>> target_for("regression", pd.Series([1, 2, 3, 5]), "price").tolist()
    [1.0, 2.0, 3.0, 5.0]
    """
    return _READERS[task](y, target)
