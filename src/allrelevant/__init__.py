"""Which features of a table matter, and the proof."""

from . import datasets
from .bounds import ClassificationBounds, LinearModel
from .exceptions import (
    AllRelevantError,
    InputError,
    MissingExtraError,
    RelevanceWarning,
    SolverError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "AllRelevantError",
    "ClassificationBounds",
    "InputError",
    "LinearModel",
    "MissingExtraError",
    "RelevanceWarning",
    "SolverError",
    "datasets",
]
