"""Relevance intervals: how small and how large a weight can be over all equally good models."""

from .design import CheapModel, Design
from .estimators.classification import ClassificationBounds
from .estimators.mapping import MappingBounds
from .estimators.metric import MetricBounds
from .estimators.ordinal import OrdinalBounds
from .estimators.ranking import RankingBounds
from .estimators.regression import RegressionBounds
from .groups import Group
from .mappings.canonical import canonical_mapping
from .mappings.linear_mapping import LinearMapping
from .models import LinearModel
from .path import BoundsPath, bounds_path
from .relations import Relations
from .risk import RiskBound
from .stability import Stability, stability

__all__ = [
    "BoundsPath",
    "CheapModel",
    "ClassificationBounds",
    "Design",
    "Group",
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
