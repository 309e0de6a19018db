"""Limits up to which optional analyses run by default.

The limits are on numbers, not on time, so that the result does not depend on the computer. Only the
search for the smallest sufficient set has a time limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..terms.columns import Frame

# Largest number of relevant features and of table cells for analyses of fitted bounds.
MAX_RELATED_FEATURES = 40
MAX_CELLS = 200_000

# Largest number of table cells for bounds in addition to a selection.
MAX_CELLS_FOR_BOUNDS = 100_000


def bounds_are_fast(X: Frame) -> bool:
    """Return whether a table is small enough to add bounds to a selection by default."""
    return bool(X.size <= MAX_CELLS_FOR_BOUNDS)


def is_small(X: Frame) -> bool:
    """Return whether a table is small enough for further analyses by default."""
    return bool(X.size <= MAX_CELLS)


def is_moderate(est: Any, X: Frame) -> bool:
    """Return whether further analyses of fitted bounds run by default."""
    return int(est.get_support().sum()) <= MAX_RELATED_FEATURES and is_small(X)


def find_substitutes(est: Any, features: Any) -> dict[str, list[str]] | None:
    """Return the substitutes of features, given as a mask; None if there are too many pairs."""
    relevant = est.get_support()
    if (relevant & features).sum() * relevant.sum() > MAX_RELATED_FEATURES**2:
        return None
    substitutes: dict[str, list[str]] = est.substitutes(features.nonzero()[0].tolist())
    return substitutes


def find_small_set(est: Any, *, wanted: bool) -> Any:
    """Return the smallest sufficient set; None if it is not wanted or no feature is relevant."""
    if not (wanted and est.get_support().any()):
        return None
    return est.cheapest()
