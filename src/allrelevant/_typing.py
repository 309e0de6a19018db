"""Type aliases for arrays and tables."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]


Matrix: TypeAlias = NDArray[np.float64]


# A dense ndarray or a CSR array with one row per sample. scipy's sparse arrays have no type stubs,
# so the type cannot be more specific.
Table: TypeAlias = Any


Codes = NDArray[np.intp]


Rows = NDArray[np.int64]
