"""Optional dependencies: imported when used, and named by the extra that brings them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from .exceptions import MissingExtraError


def import_extra(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        Extra of this package that brings it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(module, extra) from error


def missing(module: str, extra: str) -> MissingExtraError:
    """What to say where an optional dependency is not installed."""
    return MissingExtraError(
        f"This needs {module.partition('.')[0]}: pip install 'allrelevant[{extra}]'."
    )


def display(name: str) -> Any:
    """Class of :mod:`allrelevant.plots` that draws a result.

    Results look their display up by name when they are drawn, so that no computation imports the
    plots.
    """
    return getattr(import_module("allrelevant.plots"), name)
