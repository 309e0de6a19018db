"""What a result was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version

_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")


def versions() -> dict[str, str]:
    """Versions of the package, of Python, and of what it stands on."""
    from .. import __version__

    packages = {package: version(package) for package in _PACKAGES}
    return {"allrelevant": __version__, "python": platform.python_version(), **packages}
