"""Folds in which every class has its share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ...exceptions import InputError
from .samples import Fold


def stratified_folds(
    y: NDArray[Any], n_folds: int, seed: int, setting: str = "C as a number"
) -> list[Fold]:
    """Splits of samples of several classes; no more than the smallest class has samples."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise InputError(
            "Cross-validation needs at least two rows of each class, but one class has a single "
            f"row. Give {setting} instead of 'cv'."
        )
    splits = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed)
    return list(splits.split(y, y))
