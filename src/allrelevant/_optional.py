"""Optional dependencies, imported when used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from .exceptions import MissingExtraError


def import_extra(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or raise an error that says how to install it.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        Extra of this package that installs the module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_extra_error(module, extra) from error


def missing_extra_error(module: str, extra: str) -> MissingExtraError:
    """Return the error for an optional dependency that is not installed."""
    name = module.partition(".")[0]
    return MissingExtraError(
        f"This feature requires {name}. Install it with: pip install 'allrelevant[{extra}]'."
    )


def display(name: str) -> Any:
    """Return the class of :mod:`allrelevant.plots` with this name.

    The lookup happens when a result is plotted, so computations never import plotting code.
    """
    return getattr(import_module("allrelevant.plots"), name)
