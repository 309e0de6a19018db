"""What a result was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")


def versions(model: Any = None) -> dict[str, str]:
    """Versions of the package, of Python, and of what it stands on.

    Parameters
    ----------
    model : estimator, default=None
        Fitted, and part of the result: if it is a network of torch, that is named, too.
    """
    from .. import __version__

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
