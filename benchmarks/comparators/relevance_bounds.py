"""Feature selection by the relevance bounds of allrelevant, with default settings."""

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
    cutoff: Literal["fdr", "probes"] = "fdr",
) -> Chosen:
    """Select the strong and weak features; the estimator chooses C by cross-validation."""
    model = ClassificationBounds(formulation=formulation, cutoff=cutoff, random_state=seed)
    with warnings.catch_warnings():
        # Without label noise, C is at the end of its grid.
        warnings.simplefilter("ignore", RelevanceWarning)
        model.fit(X, y)
    return model.get_support()
