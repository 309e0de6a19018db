"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | Path, text: str) -> None:
    """Write a text file in one step: what was there before stays until all is written.

    Parameters
    ----------
    path : str or Path
    text : str
        Written as UTF-8.
    """
    path = Path(path).resolve()  # through a link: the file it points to is replaced, not the link
    data = text.encode("utf-8", errors="backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device, such as /dev/null, must not be replaced
        return
    # In the same folder, for only within one disk is a file replaced in one step. Not by way of
    # tempfile, whose files nobody else may read.
    partial = path.with_name(f".allrelevant-{secrets.token_hex(6)}.tmp")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
