"""Results as bytes: numbers, words and arrays, to the last bit, and nothing that could run."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

# The entry that holds all that is no array. No name of a result can be empty.
_PLAIN = "_"


def pack(content: Mapping[str, Any]) -> bytes:
    """Write a mapping of arrays and of values that JSON knows.

    Parameters
    ----------
    content : mapping
        Floats keep every bit, in arrays and outside.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"step": 3, "weights": np.array([0.1, 0.2])}))
    {'step': 3, 'weights': array([0.1, 0.2])}
    """
    arrays: dict[str, Any] = {
        name: value for name, value in content.items() if isinstance(value, np.ndarray)
    }
    plain = {name: value for name, value in content.items() if name not in arrays}
    file = io.BytesIO()
    arrays[_PLAIN] = np.array(json.dumps(plain))
    np.savez(file, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> dict[str, Any]:
    """Read what :func:`pack` has written."""
    with np.load(io.BytesIO(data), allow_pickle=False) as entries:
        plain: dict[str, Any] = json.loads(str(entries[_PLAIN]))
        return plain | {name: entries[name] for name in entries.files if name != _PLAIN}
