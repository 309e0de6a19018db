"""Compiled numerical loops on arrays.

Functions are compiled by numba on first use and cached on disk. Only this file imports numba.
numba's cache detects changes only in the file that defines a function, so each file of this package
is self-contained, except that it imports :func:`compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(
    function: Callable[..., Any] | None = None, *, nogil: bool = False, reassociate: bool = False
) -> Any:
    """Compile the decorated function on its first call.

    The decorator works with or without arguments. ``nogil`` releases the global interpreter lock.
    ``reassociate`` allows the compiler to reorder sums, so that it can vectorize them.
    """
    fastmath = {"reassoc", "contract"} if reassociate else False
    compile_ = njit(cache=True, nogil=nogil, fastmath=fastmath)
    return compile_ if function is None else compile_(function)
