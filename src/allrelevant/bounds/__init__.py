"""Relevance intervals: how small and how large a weight can be over all equally good models."""

from .estimators.classification import ClassificationBounds
from .estimators.mapping import MappingBounds
from .estimators.metric import MetricBounds
from .estimators.ordinal import OrdinalBounds
from .estimators.ranking import RankingBounds
from .estimators.regression import RegressionBounds
from .mappings.canonical import canonical_mapping
from .mappings.linear_mapping import LinearMapping
from .models import LinearModel
from .path import BoundsPath, bounds_path
from .risk import RiskBound
from .stability import Stability, stability

__all__ = [
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
]
