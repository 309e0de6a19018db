"""Relevance intervals: how small and how large a weight can be over all equally good models."""

from __future__ import annotations

from .classification import ClassificationBounds
from .design import CheapestModel, CheapestModels
from .mapping.linear_mapping import LinearMapping, canonical_mapping
from .mapping.mapping_estimator import MappingBounds
from .mapping.metric_estimator import MetricBounds
from .models import LinearModel
from .ordinal import OrdinalBounds
from .path import BoundsPath, bounds_path
from .ranking import RankingBounds
from .regression import RegressionBounds
from .relations import FeatureGroup, Relations
from .risk import RiskBound
from .stability import Stability, stability

__all__ = [
    "BoundsPath",
    "CheapestModel",
    "CheapestModels",
    "ClassificationBounds",
    "FeatureGroup",
    "LinearMapping",
    "LinearModel",
    "MappingBounds",
    "MetricBounds",
    "OrdinalBounds",
    "RankingBounds",
    "RegressionBounds",
    "Relations",
    "RiskBound",
    "Stability",
    "bounds_path",
    "canonical_mapping",
    "stability",
]
