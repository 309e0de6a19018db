"""How many features are selected."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ..exceptions import InputError


def number_selected(wanted: Any, n_features: int) -> int:
    """A number of features, from a number or a share of all; at least one.

    Parameters
    ----------
    wanted : int or float
        Below 1 and no whole number it is a share.
    n_features : int
        How many there are.

    Examples
    --------
    >>> number_selected(3, 10), number_selected(0.25, 10), number_selected(0.01, 10)
    (3, 2, 1)
    """
    if isinstance(wanted, Integral) and 1 <= int(wanted) <= n_features:
        return int(wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) < 1:
        return max(1, int(float(wanted) * n_features))
    raise InputError(
        f"Cannot select {wanted!r} of {n_features} features: give a number from 1 to {n_features}, "
        "or a share between 0 and 1."
    )
