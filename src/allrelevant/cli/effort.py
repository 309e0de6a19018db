"""Limits up to which optional analyses run by default; they do not depend on the computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Relations are computed up to this number of relevant features and of table cells.
MAX_RELATED_FEATURES = 40
MAX_CELLS = 200_000

# The command ``select`` computes bounds up to this number of table cells.
MAX_CELLS_FOR_BOUNDS = 100_000

# Time limit of the search for the smallest sufficient set, if it runs by default.
SMALL_SET_SECONDS = 10.0


def bounds_are_fast(X: pd.DataFrame) -> bool:
    """Return whether bounds are computed in addition to a selection."""
    return bool(X.size <= MAX_CELLS_FOR_BOUNDS)


def relations_are_fast(est: Any, X: pd.DataFrame) -> bool:
    """Return whether the relations of fitted bounds are computed."""
    n_relevant = int(est.get_support().sum())
    is_small = n_relevant <= MAX_RELATED_FEATURES and X.size <= MAX_CELLS
    return n_relevant > 1 and is_small and est.max_seconds is None


def small_set_is_fast(est: Any, X: pd.DataFrame) -> bool:
    """Return whether the smallest sufficient set of fitted bounds is searched for."""
    return est.get_support().any() and X.size <= MAX_CELLS and est.max_seconds is None
