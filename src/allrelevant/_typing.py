"""Names for the kinds of arrays that the package passes around."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]


Matrix: TypeAlias = NDArray[np.float64]


# Rows are samples: a dense ndarray, or a sparse array in compressed row format. scipy's sparse
# arrays have no types, so this cannot say more.
Table: TypeAlias = Any


Codes = NDArray[np.intp]


Rows = NDArray[np.int64]
