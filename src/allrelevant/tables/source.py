"""Content of files, named pipes and standard input, decompressed. Each input is read once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .._optional import import_extra
from ..exceptions import InputError
from .limits import Limits

STDIN = "-"

_CHUNK = 1 << 20


def check_exists(name: str) -> None:
    """Raise if a path cannot be read: no such file, a folder, a loop of links, no permission."""
    if name == STDIN:
        return
    try:
        mode = Path(name).stat().st_mode
    except FileNotFoundError as error:
        raise InputError(f"File {name!r} does not exist. Check the path.") from error
    except (OSError, ValueError) as error:  # ValueError: the name contains a null character
        raise cannot_open(name, error) from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{name!r} is a folder. Pass the path of a table.")


def cannot_open(name: str, error: OSError | ValueError) -> InputError:
    """Return the error to raise if a file cannot be opened."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"Cannot open {name!r}: {reason}. Check the path and its permissions.")


def is_pipe(name: str) -> bool:
    """Return whether a path is a named pipe or a device, whose name tells nothing."""
    return name == STDIN or not Path(name).is_file()


def read_content(name: str, limits: Limits) -> bytes:
    """Read a file or standard input, decompressed if the suffix says so.

    Raises ``ValueError`` or one of :data:`DAMAGED` if a compressed file is damaged.
    """
    decompress = COMPRESSIONS.get(Path(name).suffix.lower())
    with _open(name) as file:
        if decompress is None:
            return limits.join(_chunks(file))
        if is_pipe(name):  # archives are not read from start to end
            return limits.join(decompress(io.BytesIO(limits.join(_chunks(file)))))
        return limits.join(decompress(file))


def _open(name: str) -> IO[bytes]:
    if name != STDIN:
        try:
            return Path(name).open("rb", buffering=0)
        except OSError as error:
            raise cannot_open(name, error) from error
    if sys.stdin is None or sys.stdin.closed:
        raise InputError(
            "Standard input is closed. It can be read only once. Pass the path of a table."
        )
    return sys.stdin.buffer


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _with(open_file: Callable[[IO[bytes]], Any]) -> Callable[[IO[bytes]], Iterator[bytes]]:
    """Return a function that decompresses a file in chunks."""

    def decompress(file: IO[bytes]) -> Iterator[bytes]:
        with open_file(file) as stream:
            yield from _chunks(stream)

    return decompress


def _unzip(file: IO[bytes]) -> Iterator[bytes]:
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise ValueError(f"the archive contains {len(names)} files instead of one")
        with archive.open(names[0]) as stream:
            yield from _chunks(stream)


def _decompress_zstd(file: Any) -> Iterator[bytes]:
    # pyarrow, which reads Parquet, also reads zstd.
    arrow = import_extra("pyarrow", "parquet")
    with arrow.input_stream(arrow.PythonFile(file), compression="zstd") as stream:
        yield from _chunks(stream)


COMPRESSIONS: Mapping[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
    ".gz": _with(lambda file: gzip.GzipFile(fileobj=file)),
    ".bz2": _with(bz2.open),
    ".xz": _with(lzma.open),
    ".zip": _unzip,
    ".zst": _decompress_zstd,
}

# Errors raised if a compressed file is damaged, encrypted or compressed by an unknown method.
DAMAGED = (
    *(OSError, EOFError, RuntimeError, NotImplementedError, OverflowError, struct.error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)
