"""Checks of paths to which a file is written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .exceptions import InputError


def path_status(path: Path, error_type: type[InputError] = InputError) -> os.stat_result | None:
    """Return the status of a file to write, or None if it does not exist yet.

    Raises if the path is a folder, or cannot be used: its folder does not exist, its name is too
    long, or links form a loop.
    """
    name = str(path)
    status = None
    try:
        folder = path.resolve().parent
        folder.stat()
        status = path.stat()
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise error_type(
                f"Cannot write {path.name!r}: folder {str(folder)!r} does not exist. Create it, or "
                "use a different path."
            ) from error
    except (OSError, ValueError, RuntimeError) as error:
        # pathlib raises RuntimeError for a loop of links; a null character is a ValueError.
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise error_type(f"Cannot write {name!r}: {reason}. Use a different path.") from error
    if status and stat.S_ISDIR(status.st_mode):
        raise error_type(f"{name!r} is a folder. Pass a file name.")
    return status
