"""Numbers from R's data files, without R.

The format (`save` in R: "RDX", big-endian) is that of "R Internals", section 1.8. Only what tables
are made of is read: numbers, strings, lists of them and their attributes.

Spectra, and what was measured of the same samples.

The Tecator table: meat samples, their near infrared spectra and their contents.

The wine spectra of Prof. Meurens: infrared spectra and the content of alcohol.
"""

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


class Spectra(NamedTuple):
    """Spectra of samples, the content to predict from them, and the part each row belongs to.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_channels)
    y : ndarray of shape (n_samples,)
        Content of each sample, in percent.
    part : ndarray of shape (n_samples,)
        ``"train"`` or ``"test"``, and ``"extrapolation"`` in the whole Tecator table, as its
        publishers divided it.
    """

    X: Matrix
    y: Vector
    part: NDArray[np.str_]


# The file says how many numbers of each kind follow, one `name=count` a line.
_COUNT = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\d+)[ \t\r]*$", re.MULTILINE)


_COUNTS = (
    "real_in",
    "real_out",
    "training_examples",
    "test_examples",
    "extrapolation_examples",
)


_PARTS = ("train", "test", "extrapolation")


# A row: absorbances, principal components of them, contents.
_N_COMPONENTS = 22


_CONTENTS = ("moisture", "fat", "protein")


def load_tecator(
    path: str | Path, *, target: Literal["moisture", "fat", "protein"] = "fat"
) -> Spectra:
    """Read the Tecator table from the text file that StatLib publishes.

    Absorbances of 240 samples of meat at 100 wavelengths from 850 to 1050 nm, and their contents
    of water, fat and protein. The file (http://lib.stat.cmu.edu/datasets/tecator) is not part of
    this package. Its owners ask that publications name the instrument and the company: a Tecator
    Infratec Food and Feed Analyzer.

    Parameters
    ----------
    path : str or Path
        The file as it was published, with its description.
    target : {"moisture", "fat", "protein"}, default="fat"
        The content to predict.

    Returns
    -------
    Spectra
        172 rows of the part ``"train"``, 43 of ``"test"`` and 25 of ``"extrapolation"``; common
        use leaves the latter out. The principal components in the file are left out.
    """
    if target not in _CONTENTS:
        raise InputError(f"target must be one of {', '.join(_CONTENTS)}, got {target!r}.")
    text = _text(Path(path))
    counts, numbers_start = _counts(text, path)
    n_numbers = counts["real_in"] + counts["real_out"]
    sizes = [counts[name] for name in _COUNTS[2:]]
    rows = _numbers(text[numbers_start:], n_numbers * sum(sizes), path).reshape(-1, n_numbers)
    return Spectra(
        rows[:, : counts["real_in"] - _N_COMPONENTS],
        rows[:, counts["real_in"] + _CONTENTS.index(target)],
        np.repeat(_PARTS, sizes),
    )


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"There is no file {str(path)!r}. The Tecator table is published as "
            "http://lib.stat.cmu.edu/datasets/tecator."
        )
    # The description has had characters of more than one encoding over the years.
    return path.read_text(encoding="latin-1")


def _counts(text: str, path: str | Path) -> tuple[dict[str, int], int]:
    """The counts, and where the numbers start: the description shows the counts once before."""
    found = list(_COUNT.finditer(text))
    counts = {match[1]: int(match[2]) for match in found}
    missing = [name for name in _COUNTS if name not in counts]
    if missing:
        raise InputError(
            f"{str(path)!r} is not the Tecator file of StatLib: it has no line {missing[0]}=..."
        )
    if counts["real_in"] <= _N_COMPONENTS or counts["real_out"] != len(_CONTENTS):
        raise InputError(
            f"{str(path)!r} announces {counts['real_in']} inputs and {counts['real_out']} outputs "
            f"a row; the Tecator file has absorbances, {_N_COMPONENTS} principal components and "
            f"{len(_CONTENTS)} contents."
        )
    return counts, found[-1].end()


def _numbers(text: str, expected: int, path: str | Path) -> Vector:
    words = text.split()
    if len(words) != expected:
        raise InputError(
            f"{str(path)!r} announces {expected} numbers but has {len(words)}: it is cut off, or "
            "was changed."
        )
    try:
        return np.array(words, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{str(path)!r} has a word among its numbers: {error}.") from error


_NAMES = ("x.learning", "y.learning", "x.test", "y.test")


# Rows 34, 35 and 84 of the learning set, counted from 1.
_OUTLIERS = (33, 34, 83)


def load_wine_spectra(path: str | Path, *, drop_outliers: bool = False) -> Spectra:
    """Read the wine spectra from the data file of the R package cggd.

    Infrared spectra of 124 wines at 256 points, and their content of alcohol. The file
    (``data/Wine.RData`` in https://cran.r-project.org/package=cggd) is not part of this package.
    The data were provided by Prof. Marc Meurens, Université catholique de Louvain, BNUT unit, who
    asks to be acknowledged.

    Parameters
    ----------
    path : str or Path
        A data file of R with the matrices ``x.learning``, ``y.learning``, ``x.test`` and
        ``y.test``, or a list of them.
    drop_outliers : bool, default=False
        Leave out samples 34, 35 and 84 of the learning set, as is usual.

    Returns
    -------
    Spectra
        94 rows of the part ``"train"`` (91 without outliers), then 30 of ``"test"``.
    """
    x_learning, y_learning, x_test, y_test = _matrices(path)
    _require_fit(path, x_learning, y_learning, x_test, y_test)
    X, y = np.vstack([x_learning, x_test]), np.vstack([y_learning, y_test]).ravel()
    part = np.repeat(["train", "test"], [len(x_learning), len(x_test)])
    kept = np.ones(len(X), dtype=bool)
    if drop_outliers:
        if len(x_learning) <= max(_OUTLIERS):
            raise InputError(
                f"{str(path)!r} has {len(x_learning)} learning rows: it has no sample "
                f"{max(_OUTLIERS) + 1} to leave out. Use drop_outliers=False."
            )
        kept[list(_OUTLIERS)] = False
    return Spectra(X[kept], y[kept], part[kept])


def _matrices(path: str | Path) -> list[Matrix]:
    found = read_r_data(path)
    if len(found) == 1:
        (only,) = found.values()
        found = only if isinstance(only, dict) else found
    missing = [name for name in _NAMES if name not in found]
    if missing:
        raise InputError(
            f"{str(path)!r} has no {missing[0]}; the file of the wine spectra has "
            f"{', '.join(_NAMES)}."
        )
    return [_matrix(found[name], name, path) for name in _NAMES]


def _matrix(values: Any, name: str, path: str | Path) -> Matrix:
    """A matrix, a vector or a data frame as a matrix; vectors are columns."""
    if isinstance(values, dict):
        values = np.column_stack(list(values.values()))
    matrix = np.asarray(values)
    if matrix.ndim not in (1, 2) or not np.issubdtype(matrix.dtype, np.number):
        raise InputError(f"{str(path)!r} has a {name} that is no matrix of numbers.")
    return matrix.reshape(len(matrix), -1).astype(np.float64)


def _require_fit(path: str | Path, *matrices: Matrix) -> None:
    x_learning, y_learning, x_test, y_test = (matrix.shape for matrix in matrices)
    if (x_learning[0], 1) != y_learning or (x_test[0], 1) != y_test or x_learning[1] != x_test[1]:
        shapes = ", ".join(
            f"{name} {' x '.join(map(str, matrix.shape))}"
            for name, matrix in zip(_NAMES, matrices, strict=True)
        )
        raise InputError(f"{str(path)!r} has matrices that do not fit each other: {shapes}.")
