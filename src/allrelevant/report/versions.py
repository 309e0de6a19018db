"""What a result was made with."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version

_PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy")
# Take part in some results only: in those they have been loaded.
_OPTIONAL = ("torch",)


def versions() -> dict[str, str]:
    """Versions of the package, of Python, and of what it stands on."""
    from .. import __version__

    loaded = [package for package in _OPTIONAL if package in sys.modules]
    packages = {package: version(package) for package in (*_PACKAGES, *loaded)}
    return {"allrelevant": __version__, "python": platform.python_version(), **packages}
