"""Import of optional dependencies, with an error that names the package to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from .exceptions import MissingExtraError


def import_extra(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or raise an error that states how to install it.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        Name of the extra (optional dependency group) that installs the module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_extra_error(module, extra) from error


def missing_extra_error(module: str, extra: str) -> MissingExtraError:
    """Return the error to raise if an optional dependency is not installed."""
    name = module.partition(".")[0]
    return MissingExtraError(
        f"This operation requires {name}. Install it with: pip install 'allrelevant[{extra}]'."
    )


def display(name: str) -> Any:
    """Return the class with the given name from :mod:`allrelevant.plots`.

    Plotting code is imported only when a result is plotted.
    """
    return getattr(import_module("allrelevant.plots"), name)
