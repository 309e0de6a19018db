"""Loading of the compiled core, and conversion of arrays to pointers.

On x86-64, the core is compiled twice, for all processors and for those of level x86-64-v3 (AVX2).
Both variants return the same bits. The environment variable ``ALLRELEVANT_CORE`` chooses one of
them (``libcore`` or ``libcore_v3``), for tests and benchmarks.

Calls release the global interpreter lock. Long computations return after WORK_PER_CALL operations
and are called again, so that Python can handle signals such as Ctrl-C in between.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Floating-point operations per call, at most about a quarter of a second.
WORK_PER_CALL = 5e8

# Status of a solver, as in core.h.
OPTIMAL, RUNNING, UNBOUNDED, FAILED = 0, 1, 2, 3

SUFFIX = {"win32": ".dll", "cygwin": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

# Variants of the core, by the smallest x86-64 level that they require.
VARIANTS = {1: "libcore", 3: "libcore_v3"}

# Types of arguments and of fields.
POINTER, SIZE, REAL, STATUS = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_int32

# Result type and argument types of each function in core.h.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "ar_initialize": (None, [POINTER] * 2),
    "ar_minimize_bytes": (SIZE, [SIZE] * 2),
    "ar_minimize": (STATUS, [POINTER] * 2 + [REAL] * 2 + [SIZE] + [POINTER] * 5),
    "ar_extremes_bytes": (SIZE, [POINTER, SIZE, SIZE, SIZE]),
    "ar_solve_extremes": (STATUS, [POINTER] * 3 + [SIZE, REAL, POINTER, POINTER]),
    "ar_pairs_bytes": (SIZE, [POINTER]),
    "ar_pair_losses": (None, [POINTER, SIZE] + [POINTER] * 9),
    "ar_svms_bytes": (SIZE, [POINTER]),
    "ar_solve_svms": (
        STATUS,
        [POINTER, SIZE, POINTER, SIZE, POINTER, SIZE, REAL, SIZE, REAL] + [POINTER] * 4,
    ),
    "ar_decide": (
        None,
        [POINTER, SIZE, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER, POINTER],
    ),
    "ar_rbf_changes": (None, [SIZE] * 2 + [POINTER] * 3 + [REAL] + [POINTER] * 2),
    "ar_polynomial_changes": (
        None,
        [SIZE] * 2 + [POINTER] * 3 + [REAL] * 2 + [SIZE, POINTER],
    ),
    "ar_sigmoid_changes": (None, [SIZE] * 2 + [POINTER] * 3 + [REAL] * 2 + [POINTER] * 2),
    "ar_vector_level": (STATUS, []),
}


@cache
def load(name: str | None = None) -> ctypes.CDLL:
    """Return the named variant of the core, by default the fastest for this processor.

    The library is loaded only once.
    """
    name = name or os.environ.get("ALLRELEVANT_CORE") or _fastest_variant()
    path = _path(name)
    if not path.exists():
        raise ImportError(
            f"The compiled core of allrelevant is missing ({path}). Reinstall the package. In a "
            f"checkout, compile it with: python {Path(__file__).parent / 'core' / 'build.py'}"
        )
    library = ctypes.CDLL(str(path))
    for function, (result, arguments) in _FUNCTIONS.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


def _path(name: str) -> Path:
    return Path(__file__).parent / (name + SUFFIX)


def _fastest_variant() -> str:
    level = load(VARIANTS[1]).ar_vector_level()
    supported = [name for least, name in VARIANTS.items() if least <= level]
    return next(name for name in reversed(supported) if _path(name).exists())


class Struct(ctypes.Structure):
    """Base class of the structures in core.h; numbers and arrays are passed in field order.

    It keeps the arrays alive.
    """

    def __init__(self, *fields: float | NDArray[Any]) -> None:
        self._arrays = [field for field in fields if isinstance(field, np.ndarray)]
        super().__init__(*(pointer(f) if isinstance(f, np.ndarray) else f for f in fields))

    @property
    def address(self) -> int:
        return ctypes.addressof(self)


def pointer(array: Any) -> int:
    """Return the address of a C-contiguous array of doubles or 64-bit integers."""
    flags = array.flags
    if not flags.c_contiguous or array.itemsize != 8 or array.dtype.kind not in "fi":
        raise TypeError(
            f"The core requires a C-contiguous array of float64 or int64 (got {array.dtype}, "
            f"strides {array.strides}). Convert the array first."
        )
    if flags.writeable and array.size:  # several times as fast as the general case below
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return array.ctypes.data


def real(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return an input array as C-contiguous doubles, without a copy if possible."""
    return np.ascontiguousarray(array, dtype=np.float64)


def integer(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return an input array as C-contiguous 64-bit integers, without a copy if possible."""
    return np.ascontiguousarray(array, dtype=np.int64)


def work_memory(n_bytes: int) -> NDArray[np.float64]:
    """Return an array of zeros of the given size, for use as work memory."""
    return np.zeros(n_bytes // 8)
