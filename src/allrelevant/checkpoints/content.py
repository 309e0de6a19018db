"""Content of a step in a checkpoint: a mapping of arrays and JSON values as bytes, without pickle.

The bytes start with a digest of the content and of its place in the file, so content that this
package did not write there is detected before it is interpreted.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

# Increased whenever the bytes change.
FORMAT = "2"

# Name of the entry that stores all values other than arrays, as JSON.
_JSON_ENTRY = "_"

_DIGEST_SIZE = 16

_HEADERS: Mapping[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# Errors of :func:`unpack` for content that was not written by :func:`pack`.
DAMAGED = (ValueError, KeyError, EOFError, OSError, RuntimeError, zipfile.BadZipFile)


def pack(content: Mapping[str, Any], series: str = "", place: int = 0) -> bytes:
    """Serialize a mapping of arrays and JSON values for a place in a series.

    All floats are preserved exactly.
    """
    arrays: dict[str, Any] = {
        name: value for name, value in content.items() if isinstance(value, np.ndarray)
    }
    plain = {name: value for name, value in content.items() if name not in arrays}
    file = io.BytesIO()
    arrays[_JSON_ENTRY] = np.array(json.dumps(plain))
    np.savez(file, **arrays)
    data = file.getvalue()
    return _digest(data, series, place) + data


def unpack(packed: Any, series: str = "", place: int = 0) -> dict[str, Any]:
    """Restore a mapping from the bytes that :func:`pack` returned for the same place."""
    if not isinstance(packed, bytes) or len(packed) <= _DIGEST_SIZE:
        raise ValueError("a step is empty")
    digest, data = packed[:_DIGEST_SIZE], packed[_DIGEST_SIZE:]
    if digest != _digest(data, series, place):
        raise ValueError("a step was changed")
    _check_sizes(data)
    with np.load(io.BytesIO(data), allow_pickle=False) as entries:
        plain: dict[str, Any] = json.loads(str(entries[_JSON_ENTRY]))
        return plain | {name: entries[name] for name in entries.files if name != _JSON_ENTRY}


def _digest(data: bytes, series: str, place: int) -> bytes:
    key = f"{FORMAT} {place} {series}".encode()
    return hashlib.sha256(key + b"\0" + data).digest()[:_DIGEST_SIZE]


def _check_sizes(data: bytes) -> None:
    """Raise if an array has more bytes than its entry, before memory is allocated for it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(data):
                raise ValueError(f"entry {entry.filename!r} has a wrong size")
            with archive.open(entry) as file:
                n_bytes = _claimed_bytes(file)
                if n_bytes != entry.file_size - file.tell():
                    raise ValueError(f"entry {entry.filename!r} has a wrong size")


def _claimed_bytes(file: IO[bytes]) -> int:
    """Return the number of bytes of an array according to its header."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError("an array has an unknown format")
    shape, _, dtype = _HEADERS[version](file)
    return math.prod(shape) * dtype.itemsize
