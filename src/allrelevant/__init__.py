"""Which features of a table matter, and the proof."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .exceptions import (
    AllRelevantError,
    CheckpointError,
    InfeasibleConstraintsError,
    InputError,
    MissingExtraError,
    RelevanceWarning,
    SolverError,
    TrainingError,
)

if TYPE_CHECKING:
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
        bounds_path,
        canonical_mapping,
    )
    from .bounds.stability import Stability, stability
    from .elimination import EBRFE, SVMRFE, AttributeFlip, BitFlip, NestedScore
    from .metric_learning import GMLVQ, LMNN
    from .saliency import Explanation, SaliencySelector, explain
    from .saliency.deep_selection import DeepFeatureSelection
    from .saliency.networks import NetworkClassifier, NetworkRegressor
    from .saliency.robustness import Robustness, robustness


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
    "ClassificationBounds",
    "DeepFeatureSelection",
    "Explanation",
    "InfeasibleConstraintsError",
    "InputError",
    "LinearMapping",
    "LinearModel",
    "MappingBounds",
    "MetricBounds",
    "MissingExtraError",
    "NestedScore",
    "NetworkClassifier",
    "NetworkRegressor",
    "OrdinalBounds",
    "RankingBounds",
    "RegressionBounds",
    "RelevanceWarning",
    "RiskBound",
    "Robustness",
    "SaliencySelector",
    "SolverError",
    "Stability",
    "TrainingError",
    "bounds_path",
    "canonical_mapping",
    "datasets",
    "explain",
    "robustness",
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
    "elimination": ("EBRFE", "SVMRFE", "AttributeFlip", "BitFlip", "NestedScore"),
    "metric_learning": ("GMLVQ", "LMNN"),
    "saliency": ("Explanation", "SaliencySelector", "explain"),
    "saliency.deep_selection": ("DeepFeatureSelection",),
    "saliency.networks": ("NetworkClassifier", "NetworkRegressor"),
    "saliency.robustness": ("Robustness", "robustness"),
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
