"""Settings and results as JSON can hold them.

What a result was made with.

Files that are there as a whole or not at all.
"""

from __future__ import annotations

import math
import os
import platform
import secrets
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def to_json_value(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot hold, as Python writes it.

    Examples
    --------
    >>> import numpy as np
    >>> to_json_value({"C": np.array([0.5, 1.0]), "score": float("nan")})
    {'C': [0.5, 1.0], 'score': None}
    """
    if isinstance(value, np.generic | np.ndarray):
        return to_json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    return repr(value)


_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")


def versions(model: Any = None) -> dict[str, str]:
    """Versions of the package, of Python, and of what it stands on.

    Parameters
    ----------
    model : estimator, default=None
        Fitted, and part of the result: if it is a network of torch, that is named, too.
    """
    from .._version import __version__

    packages = (*_PACKAGES, "torch") if _is_network(model) else _PACKAGES
    return {
        "allrelevant": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _is_network(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, has trained a module of torch."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    ancestors = type(getattr(last, "module_", None)).__mro__
    return any(ancestor.__module__.partition(".")[0] == "torch" for ancestor in ancestors)


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
