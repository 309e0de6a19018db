"""Numbers from R's data files, without R.

The format (`save` in R: "RDX", big-endian) is that of "R Internals", section 1.8. Only what tables
are made of is read: numbers, strings, lists of them and their attributes.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InputError

_PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, struct.error, ValueError)

# Bits of the number that each object begins with.
_KIND, _HAS_ATTRIBUTES, _HAS_TAG = 0xFF, 0x200, 0x400

# Kinds of objects.
_SYMBOL, _PAIR, _CHARACTERS, _REFERENCE, _NULL = 1, 2, 9, 255, 254


def read_r_data(path: str | Path) -> dict[str, Any]:
    """Read the objects that R's ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        An .RData or .rda file, packed in any of R's ways or not.

    Returns
    -------
    dict
        Objects by name: arrays of the shape they have in R, lists of strings, and dicts or lists
        of such for R's lists.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {str(path)!r}.")
    packed = path.read_bytes()
    unpack = next((way for magic, way in _PACKED.items() if packed.startswith(magic)), bytes)
    try:
        return _Reader(unpack(packed)).objects()
    except InputError as error:
        raise InputError(f"{str(path)!r} {error}") from None
    except _UNREADABLE as error:
        raise InputError(f"{str(path)!r} is damaged: it cannot be read to its end.") from error


class _Reader:
    """Reads object by object, from the start of the file on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._symbols: list[str] = []
        self._readers: dict[int, Callable[[], Any]] = {
            10: lambda: self._numbers(">i4"),  # logical
            13: lambda: self._numbers(">i4"),
            14: lambda: self._numbers(">f8"),
            16: self._items,  # strings
            19: self._items,  # list
        }

    def objects(self) -> dict[str, Any]:
        if self._take(7) not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise InputError("is no data file of R, or one in text form: save it by R's save().")
        version, _, _ = (self._integer() for _ in range(3))
        if version == 3:
            self._take(self._integer())  # the encoding of strings
        return self._item()

    def _take(self, count: int) -> bytes:
        taken = self._data[self._place : self._place + count]
        if count < 0 or len(taken) < count:
            raise EOFError
        self._place += count
        return taken

    def _integer(self) -> int:
        return int(struct.unpack(">i", self._take(4))[0])

    def _numbers(self, kind: str) -> np.ndarray:
        dtype = np.dtype(kind)
        numbers = np.frombuffer(self._take(self._integer() * dtype.itemsize), dtype)
        return numbers.astype(dtype.newbyteorder("="))

    def _items(self) -> list[Any]:
        return [self._item() for _ in range(self._integer())]

    def _item(self) -> Any:
        flags = self._integer()
        kind = flags & _KIND
        if kind == _NULL:
            return None
        if kind in (_SYMBOL, _REFERENCE):
            return self._symbol(kind, flags >> 8)
        if kind == _CHARACTERS:
            length = self._integer()
            return None if length == -1 else self._take(length).decode("utf-8", "replace")
        if kind == _PAIR:
            return self._pairs(flags)
        return self._vector(kind, flags)

    def _symbol(self, kind: int, reference: int) -> str:
        if kind == _REFERENCE:
            return self._symbols[(reference or self._integer()) - 1]
        self._symbols.append(self._item())
        return self._symbols[-1]

    def _pairs(self, flags: int) -> dict[str, Any]:
        """A chain of pairs of a name and a value, up to the null that ends it."""
        found = {}
        while flags & _KIND == _PAIR:
            if flags & _HAS_ATTRIBUTES:
                self._item()
            name = self._item() if flags & _HAS_TAG else ""
            found[str(name)] = self._item()
            flags = self._integer()
        return found

    def _vector(self, kind: int, flags: int) -> Any:
        if kind not in self._readers:
            raise InputError(
                f"holds an object of R's kind {kind}, which is not read here: save plain "
                "matrices, by save(..., version=2)."
            )
        values = self._readers[kind]()
        attributes = self._item() if flags & _HAS_ATTRIBUTES else {}
        if "dim" in attributes and isinstance(values, np.ndarray):
            return values.reshape(attributes["dim"], order="F")
        if "names" in attributes and isinstance(values, list):
            return dict(zip(attributes["names"], values, strict=True))
        return values
