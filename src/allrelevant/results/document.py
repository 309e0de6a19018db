"""What every document has: format version, date, command, settings, versions and warnings.

Also the values that JSON can hold, and files that are there as a whole or not at all.
"""

from __future__ import annotations

import math
import os
import platform
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._version import __version__

# Raised when a field changes its meaning or goes away, so that readers of the JSON can tell.
# 2: settings and risk bound have the new names of parameters, such as norm_slack (was delta),
# n_features_to_select (was rule), keep_fraction (was gamma) and failure_probability (was tau).
FORMAT_VERSION = 2

_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")


def make_document(
    body: Mapping[str, Any],
    *,
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str | None,
    model: Any = None,
) -> dict[str, Any]:
    """The document of a result: its own part, between what every document has.

    A ``model`` that is part of the result is named by its library among the versions.
    """
    return {
        "format_version": FORMAT_VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        **body,
        "settings": to_json_value(settings),
        "versions": versions(model),
        "warnings": list(warnings),
    }


def describe_target(classes: Iterable[Any] | None, y: ArrayLike | None) -> dict[str, Any]:
    """The classes in their order with their numbers of rows, or where the numbers of a target lie.

    >>> describe_target(None, [1.0, 3.0])
    {'classes': [], 'values': {'min': 1.0, 'max': 3.0, 'mean': 2.0}}
    """
    if classes is not None:
        rows = None if y is None else Counter(np.asarray(y).tolist())
        counts = [
            {"label": label, "n_rows": None if rows is None else rows[label]} for label in classes
        ]
        return {"classes": counts, "values": None}
    if y is None:
        return {"classes": [], "values": None}
    values = np.asarray(y, dtype=float)
    summary = {"min": float(values.min()), "max": float(values.max()), "mean": float(values.mean())}
    return {"classes": [], "values": summary}


def to_json_value(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot hold, as Python writes it.

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


def versions(model: Any = None) -> dict[str, str]:
    """Versions of the package, of Python and of the libraries used; of torch for its networks."""
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
    """Write a UTF-8 text file in one step: what was there before stays until all is written."""
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
