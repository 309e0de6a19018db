"""Entries common to all result documents, conversion to JSON, and atomic file writing.

The common parts are format version, date, command, settings, package versions and warnings.
"""

from __future__ import annotations

import math
import os
import platform
import secrets
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._version import __version__

# Increased whenever a key is renamed, removed or given a different meaning.
# 2: renamed settings and risk bound: norm_slack (was delta), n_features_to_select (was rule),
#    keep_fraction (was gamma), failure_probability (was tau).
# 3: renamed subproblems (was problems), cheapest_models (was design); in explanations, target (was
#    explained) in rows and dummy_score (was constant) in quality.
# 4: relevance has a fourth class, unconfirmed; with rule "fdr", the cutoffs in subproblems do not
#    determine the relevance of a feature. New: rule, fdr, table_pvalue, privileged_rule,
#    privileged_table_pvalue, and qvalue and pvalue of each feature (null if it was not tested).
# 5: all documents have a kind. In explanations, the prediction is explained by default, "actual" is
#    the true target, "wrong" is removed, and features have "percent" and "usual". In selections,
#    "score" and "stability" describe held-out rows, and "bounds" the relevance of the features.
FORMAT_VERSION = 5

# Kinds of documents, each with a page.
BOUNDS = "bounds"
SELECTION = "selection"
EXPLANATION = "explanation"

_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")


def make_document(
    body: Mapping[str, Any],
    *,
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str | None,
    model: Any = None,
) -> dict[str, Any]:
    """Return a JSON-compatible document: ``body`` with the entries common to all documents.

    If ``model`` is a network, the versions include torch.
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
    """Return the number of rows per class, or the minimum, maximum and mean of a numeric target.

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
    """Convert a value to a JSON value; objects of other types become their ``repr``.

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
    """Return the versions of this package, Python and the main dependencies."""
    packages = (*_PACKAGES, "torch") if _is_network(model) else _PACKAGES
    return {
        "allrelevant": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _is_network(model: Any) -> bool:
    """Check whether a model (or the last step of a pipeline) has a fitted PyTorch module."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    ancestors = type(getattr(last, "module_", None)).__mro__
    return any(ancestor.__module__.partition(".")[0] == "torch" for ancestor in ancestors)


# Windows translates line ends of files that are not opened as binary.
_BINARY = getattr(os, "O_BINARY", 0)


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write UTF-8 text or bytes atomically: an existing file is replaced only on success."""
    path = Path(path).resolve()  # replace the target of a link, not the link
    before = path.stat() if path.exists() else None
    data = (
        content.encode("utf-8", errors="backslashreplace") if isinstance(content, str) else content
    )
    if before is not None and not stat.S_ISREG(before.st_mode):
        path.write_bytes(data)  # do not replace a pipe or a device such as /dev/null
        return
    # The temporary file is in the same folder, because replacing a file is atomic only within a
    # file system. Files of the tempfile module are not used: only their owner can read them.
    partial = path.with_name(f".allrelevant-{secrets.token_hex(6)}.tmp")
    try:
        # A replaced file may be private, so nobody else may read the partial file.
        mode = 0o666 if before is None else 0o600
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _keep_permissions(partial, before)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _keep_permissions(path: Path, before: os.stat_result) -> None:
    """Give a file the owner and the mode of the file that it replaces, as far as permitted."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only root may give a file to a different user
            os.chown(path, before.st_uid, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode))
