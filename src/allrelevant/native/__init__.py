"""Compiled loops: arrays in, arrays out.

Functions are compiled by numba on first use and cached on disk. This is the only file that names
the compiler. numba's cache notices changes of a function's own file alone, so each file of this
package is self-contained but for :func:`compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(
    function: Callable[..., Any] | None = None, *, nogil: bool = False, reassociate: bool = False
) -> Any:
    """Compile a function on its first call, with or without parentheses.

    ``nogil`` releases the interpreter lock. ``reassociate`` allows sums in any order, so that they
    are vectorized.
    """
    fastmath = {"reassoc", "contract"} if reassociate else False
    compile_ = njit(cache=True, nogil=nogil, fastmath=fastmath)
    return compile_ if function is None else compile_(function)
