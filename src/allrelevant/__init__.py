"""Which features of a table matter, and the proof."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .exceptions import (
    AllRelevantError,
    CheckpointError,
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
        LinearMapping,
        LinearModel,
        MappingBounds,
        MetricBounds,
        OrdinalBounds,
        RankingBounds,
        RegressionBounds,
        RiskBound,
        Stability,
        bounds_path,
        canonical_mapping,
        stability,
    )
    from .elimination import EBRFE, SVMRFE, AttributeFlip, BitFlip, NestedEstimate
    from .metrics import GMLVQ, LMNN

__version__ = "0.1.0.dev0"

__all__ = [
    "EBRFE",
    "GMLVQ",
    "LMNN",
    "SVMRFE",
    "AllRelevantError",
    "AttributeFlip",
    "BitFlip",
    "BoundsPath",
    "CheckpointError",
    "ClashError",
    "ClassificationBounds",
    "InputError",
    "LinearMapping",
    "LinearModel",
    "MappingBounds",
    "MetricBounds",
    "MissingExtraError",
    "NestedEstimate",
    "OrdinalBounds",
    "RankingBounds",
    "RegressionBounds",
    "RelevanceWarning",
    "RiskBound",
    "SolverError",
    "Stability",
    "bounds_path",
    "canonical_mapping",
    "datasets",
    "stability",
]

# Loaded on first use: scikit-learn takes long to import, which `allrelevant --help` need not pay.
_NAMES_IN = {
    "bounds": (
        "BoundsPath",
        "ClassificationBounds",
        "LinearMapping",
        "LinearModel",
        "MappingBounds",
        "MetricBounds",
        "OrdinalBounds",
        "RankingBounds",
        "RegressionBounds",
        "RiskBound",
        "Stability",
        "bounds_path",
        "canonical_mapping",
        "stability",
    ),
    "elimination": ("EBRFE", "SVMRFE", "AttributeFlip", "BitFlip", "NestedEstimate"),
    "metrics": ("GMLVQ", "LMNN"),
}
_HOME_OF = {name: f"allrelevant.{home}" for home, names in _NAMES_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("allrelevant.datasets")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF, "datasets"])
