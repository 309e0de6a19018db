"""Readers for two public data sets of spectra (Tecator and wine), and for R data files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..exceptions import InputError

# The Tecator file states the number of values of each kind, one `name=count` per line.
_COUNT = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\d+)[ \t\r]*$", re.MULTILINE)
_PART_COUNTS = ("training_examples", "test_examples", "extrapolation_examples")
_PARTS = ("train", "test", "extrapolation")

# Each row of the Tecator file contains absorbances, their principal components, and contents.
_N_COMPONENTS = 22
_CONTENTS = ("moisture", "fat", "protein")

# Matrices of the wine file, and the outliers in its training set (samples 34, 35 and 84).
_WINE_MATRICES = ("x.learning", "y.learning", "x.test", "y.test")
_WINE_OUTLIERS = (33, 34, 83)


class Spectra(NamedTuple):
    """Spectra with their target (content in percent) and the published train/test split.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_channels)
    y : ndarray of shape (n_samples,)
        Content of each sample, in percent.
    part : ndarray of shape (n_samples,)
        Part of the published data: ``"train"``, ``"test"`` or, for Tecator only,
        ``"extrapolation"``.
    """

    X: Matrix
    y: Vector
    part: NDArray[np.str_]


def load_tecator(
    path: str | Path, *, target: Literal["moisture", "fat", "protein"] = "fat"
) -> Spectra:
    """Read the Tecator data from the text file published by StatLib.

    The data contain the absorbances of 240 meat samples at 100 wavelengths from 850 to 1050 nm, and
    their water, fat and protein contents. The file (http://lib.stat.cmu.edu/datasets/tecator) is
    not part of this package. Its owners ask that publications name the instrument and the company,
    that is, a Tecator Infratec Food and Feed Analyzer.

    Parameters
    ----------
    path : str or Path
        Path of the unmodified file, including its description.
    target : {"moisture", "fat", "protein"}, default="fat"
        Component whose content is the target.

    Returns
    -------
    Spectra
        Data with 172 samples in ``"train"``, 43 in ``"test"`` and 25 in ``"extrapolation"`` (not
        used by most studies). The principal components in the file are not returned.
    """
    if target not in _CONTENTS:
        raise InputError(f"target must be one of {', '.join(_CONTENTS)} (got {target!r}).")
    if not Path(path).is_file():
        raise InputError(
            f"File {str(path)!r} does not exist. Download the Tecator data from "
            "http://lib.stat.cmu.edu/datasets/tecator."
        )
    # The encoding of the description differs between published versions.
    text = Path(path).read_text(encoding="latin-1")
    counts, numbers_start = _counts(text, path)
    n_numbers = counts["real_in"] + counts["real_out"]
    sizes = [counts[name] for name in _PART_COUNTS]
    rows = _numbers(text[numbers_start:], n_numbers * sum(sizes), path).reshape(-1, n_numbers)
    return Spectra(
        rows[:, : counts["real_in"] - _N_COMPONENTS],
        rows[:, counts["real_in"] + _CONTENTS.index(target)],
        np.repeat(_PARTS, sizes),
    )


def _counts(text: str, path: str | Path) -> tuple[dict[str, int], int]:
    """Return the counts declared in the header of a Tecator file, and the end of the header."""
    matches = list(_COUNT.finditer(text))
    counts = {match[1]: int(match[2]) for match in matches}
    missing = [name for name in ("real_in", "real_out", *_PART_COUNTS) if name not in counts]
    if missing:
        raise InputError(
            f"{str(path)!r} is not the Tecator file published by StatLib: it has no "
            f"line '{missing[0]}=<count>'. Use the original file."
        )
    if counts["real_in"] <= _N_COMPONENTS or counts["real_out"] != len(_CONTENTS):
        raise InputError(
            f"{str(path)!r} declares {counts['real_in']} inputs and {counts['real_out']} outputs "
            f"per row, but the Tecator file has more than {_N_COMPONENTS} inputs (absorbances and "
            f"{_N_COMPONENTS} principal components) and {len(_CONTENTS)} outputs. Download it "
            "again."
        )
    return counts, matches[-1].end()


def _numbers(text: str, expected: int, path: str | Path) -> Vector:
    words = text.split()
    if len(words) != expected:
        raise InputError(
            f"{str(path)!r} declares {expected} numbers but has {len(words)}. The file is "
            "truncated or modified. Download it again."
        )
    try:
        return np.array(words, dtype=np.float64)
    except ValueError as error:
        raise InputError(
            f"{str(path)!r} contains a value that is not a number ({error}). Download it again."
        ) from error


def load_wine_spectra(path: str | Path, *, drop_outliers: bool = False) -> Spectra:
    """Read the infrared spectra of wines from the data file of the R package cggd.

    The data contain the infrared spectra of 124 wines at 256 points, and their alcohol content. The
    file (``data/Wine.RData`` in https://cran.r-project.org/package=cggd) is not part of this
    package. The data were provided by Prof. Marc Meurens, Université catholique de Louvain, BNUT
    unit, who asks to be acknowledged.

    Parameters
    ----------
    path : str or Path
        Path of an R data file with the matrices ``x.learning``, ``y.learning``, ``x.test`` and
        ``y.test``, or with a single list that contains them.
    drop_outliers : bool, default=False
        Whether to drop samples 34, 35 and 84 of the training set, as most studies do.

    Returns
    -------
    Spectra
        Data with 94 samples in ``"train"`` (91 without outliers), followed by 30 in ``"test"``.
    """
    x_learning, y_learning, x_test, y_test = _matrices(path)
    _check_shapes(path, x_learning, y_learning, x_test, y_test)
    X, y = np.vstack([x_learning, x_test]), np.vstack([y_learning, y_test]).ravel()
    part = np.repeat(["train", "test"], [len(x_learning), len(x_test)])
    kept = np.ones(len(X), dtype=bool)
    if drop_outliers:
        if len(x_learning) <= max(_WINE_OUTLIERS):
            raise InputError(
                f"{str(path)!r} has only {len(x_learning)} training rows, but drop_outliers=True "
                f"removes row {max(_WINE_OUTLIERS) + 1}. Use drop_outliers=False."
            )
        kept[list(_WINE_OUTLIERS)] = False
    return Spectra(X[kept], y[kept], part[kept])


def _matrices(path: str | Path) -> list[Matrix]:
    objects = read_r_data(path)
    if len(objects) == 1:
        (only,) = objects.values()
        objects = only if isinstance(only, dict) else objects
    missing = [name for name in _WINE_MATRICES if name not in objects]
    if missing:
        raise InputError(
            f"{str(path)!r} has no matrix {missing[0]}. Use the original file, which contains "
            f"{', '.join(_WINE_MATRICES)}."
        )
    return [_matrix(objects[name], name, path) for name in _WINE_MATRICES]


def _matrix(values: Any, name: str, path: str | Path) -> Matrix:
    """Convert a matrix, vector or data frame to a float matrix; a vector becomes a column."""
    if isinstance(values, dict):
        values = np.column_stack(list(values.values()))
    matrix = np.asarray(values)
    if matrix.ndim not in (1, 2) or not np.issubdtype(matrix.dtype, np.number):
        raise InputError(f"{name} in {str(path)!r} is not a numeric matrix. Use the original file.")
    return matrix.reshape(len(matrix), -1).astype(np.float64)


def _check_shapes(path: str | Path, *matrices: Matrix) -> None:
    x_learning, y_learning, x_test, y_test = (matrix.shape for matrix in matrices)
    if (x_learning[0], 1) != y_learning or (x_test[0], 1) != y_test or x_learning[1] != x_test[1]:
        shapes = ", ".join(
            f"{name} {' x '.join(map(str, matrix.shape))}"
            for name, matrix in zip(_WINE_MATRICES, matrices, strict=True)
        )
        raise InputError(
            f"{str(path)!r} has matrices with inconsistent shapes: {shapes}. Use the original file."
        )


# Decompression functions for R data files, keyed by the first bytes of the file.
_DECOMPRESS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, struct.error, ValueError)

# Bits of the flags at the start of each object, and type codes of objects.
_KIND, _HAS_ATTRIBUTES, _HAS_TAG = 0xFF, 0x200, 0x400
_SYMBOL, _PAIR, _CHARACTERS, _REFERENCE, _NULL = 1, 2, 9, 255, 254


def read_r_data(path: str | Path) -> dict[str, Any]:
    """Return the objects in an .RData or .rda file (written by R's ``save``), keyed by name.

    The format ("RDX", big-endian) is described in "R Internals", section 1.8. Only numbers,
    strings, lists of these and their attributes are supported. Numbers are returned as arrays with
    the same shape as in R, strings as lists, and R lists as dicts or lists.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"File {str(path)!r} does not exist. Check the path.")
    data = path.read_bytes()
    decompress = next(
        (function for magic, function in _DECOMPRESS.items() if data.startswith(magic)), bytes
    )
    try:
        return _Reader(decompress(data)).objects()
    except InputError as error:
        raise InputError(f"{str(path)!r} {error}") from None
    except _UNREADABLE as error:
        raise InputError(f"{str(path)!r} is damaged or truncated. Download it again.") from error


class _Reader:
    """Sequential reader for the objects in an R data file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
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
            raise InputError(
                "is not a binary R data file. Write it with R's save(), without ascii=TRUE."
            )
        version, _, _ = (self._integer() for _ in range(3))
        if version == 3:
            self._take(self._integer())  # the encoding of strings
        return self._item()

    def _take(self, count: int) -> bytes:
        part = self._data[self._position : self._position + count]
        if count < 0 or len(part) < count:
            raise EOFError
        self._position += count
        return part

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
        """Read the name-value pairs of an R pairlist and return them as a dict."""
        values = {}
        while flags & _KIND == _PAIR:
            if flags & _HAS_ATTRIBUTES:
                self._item()
            name = self._item() if flags & _HAS_TAG else ""
            values[str(name)] = self._item()
            flags = self._integer()
        return values

    def _vector(self, kind: int, flags: int) -> Any:
        if kind not in self._readers:
            raise InputError(
                f"contains an R object of type {kind}, which is not supported. Save plain "
                "matrices with save(..., version=2)."
            )
        values = self._readers[kind]()
        attributes = self._item() if flags & _HAS_ATTRIBUTES else {}
        if "dim" in attributes and isinstance(values, np.ndarray):
            return values.reshape(attributes["dim"], order="F")
        if "names" in attributes and isinstance(values, list):
            return dict(zip(attributes["names"], values, strict=True))
        return values
