"""Which features of a table matter, and the proof."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .exceptions import (
    AllRelevantError,
    ClashError,
    InputError,
    MissingExtraError,
    RelevanceWarning,
    SolverError,
)

if TYPE_CHECKING:
    from . import datasets
    from .bounds import (
        BoundsPath,
        ClassificationBounds,
        LinearModel,
        OrdinalBounds,
        RankingBounds,
        RegressionBounds,
        RiskBound,
        Stability,
        bounds_path,
        stability,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "AllRelevantError",
    "BoundsPath",
    "ClashError",
    "ClassificationBounds",
    "InputError",
    "LinearModel",
    "MissingExtraError",
    "OrdinalBounds",
    "RankingBounds",
    "RegressionBounds",
    "RelevanceWarning",
    "RiskBound",
    "SolverError",
    "Stability",
    "bounds_path",
    "datasets",
    "stability",
]

# Loaded on first use: scikit-learn takes long to import, which `allrelevant --help` need not pay.
_HOME_OF = {
    "BoundsPath": "allrelevant.bounds",
    "ClassificationBounds": "allrelevant.bounds",
    "LinearModel": "allrelevant.bounds",
    "OrdinalBounds": "allrelevant.bounds",
    "RankingBounds": "allrelevant.bounds",
    "RegressionBounds": "allrelevant.bounds",
    "RiskBound": "allrelevant.bounds.risk",
    "Stability": "allrelevant.bounds.stability",
    "bounds_path": "allrelevant.bounds",
    "stability": "allrelevant.bounds.stability",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("allrelevant.datasets")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF, "datasets"])
