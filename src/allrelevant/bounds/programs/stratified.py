"""Folds in which every class has its share."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ...arrays import Vector
from ...exceptions import InputError
from .samples import Fold


def stratified_folds(y: Vector, n_folds: int, seed: int) -> list[Fold]:
    """Splits of samples of several classes; no more than the smallest class has samples."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise InputError(
            "C='cv' needs at least two rows of each class, but one class has a single row. "
            "Give C as a number instead, for example C=1.0."
        )
    splits = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=seed)
    return list(splits.split(y, y))
