"""Settings and results as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot hold, as Python writes it.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"C": np.array([0.5, 1.0]), "score": float("nan")})
    {'C': [0.5, 1.0], 'score': None}
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)
