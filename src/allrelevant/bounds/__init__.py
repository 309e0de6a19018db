"""Relevance bounds: how small and how large a weight can be over all equally good models.

- ``classification``, ``regression``, ``ordinal``, ``ranking``: a task each, with its data, its
  estimator and its wording; ``mapping``: linear mappings and learned metrics
- ``_base``: parameters, ``fit`` and fitted attributes; ``task``: what a task implements
- ``pipeline``: one subproblem from data to bounds, by way of ``baseline``, ``programs`` (the set of
  equivalent models), ``calibration`` and ``solver``; ``result``: what comes of it
- ``what_if``, ``relations``, ``design``, ``risk``: questions to a result
- ``path``, ``stability``: bounds along a setting, and over parts of the rows

``TASKS`` holds each task by its name.
"""

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
from .task import Task

TASKS: dict[str, Task] = {
    estimator.task.name: estimator.task
    for estimator in (
        ClassificationBounds,
        RegressionBounds,
        OrdinalBounds,
        RankingBounds,
        MetricBounds,
    )
}

__all__ = [
    "TASKS",
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
    "Task",
    "bounds_path",
    "canonical_mapping",
    "stability",
]
