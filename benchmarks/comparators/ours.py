"""The bounds of this package, with their defaults."""

from __future__ import annotations

import warnings
from typing import Literal

from allrelevant import ClassificationBounds, RelevanceWarning

from .interface import Chosen, Classes, Table


def bounds(
    X: Table,
    y: Classes,
    *,
    folds: int,
    seed: int,
    formulation: Literal["separate", "joint"] = "separate",
) -> Chosen:
    """Strong and weak features; C by the folds of the estimator itself."""
    model = ClassificationBounds(formulation=formulation, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # clean labels: C at the end of the grid
        model.fit(X, y)
    return model.relevance_ != "irrelevant"
