"""A target as numbers to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from .kinds import holds_numbers, text_example, without_categories

if TYPE_CHECKING:
    import pandas as pd


def target_values(y: pd.Series, target: str) -> NDArray[np.float64]:
    """The target as numbers.

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
    >>> target_values(pd.Series([3, 1, 2, 5]), "price").tolist()
    [3.0, 1.0, 2.0, 5.0]
    """
    values = without_categories(y)
    if not holds_numbers(values):
        raise InputError(
            f"The target {target!r} does not hold numbers{text_example(values)}, and regression "
            "predicts numbers. If it holds classes, use --task classification."
        )
    numbers = values.to_numpy(dtype=np.float64)
    if (numbers == numbers[0]).all():
        raise InputError(
            f"The target {target!r} has a single value, {numbers[0]:g}: there is nothing to "
            "predict."
        )
    return numbers
