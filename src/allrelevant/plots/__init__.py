"""Display objects for figures, which store the plotted values and can be redrawn."""

from __future__ import annotations

from .intervals import IntervalsDisplay, PathDisplay
from .levels import LevelsDisplay
from .mapping import DimensionDisplay, MappingDisplay
from .relations import RelationsDisplay, SubstitutesDisplay
from .saliency import RobustnessDisplay, RowSaliencyDisplay, SaliencyMapDisplay
from .selection import CostDisplay, EliminationDisplay
from .stability import StabilityDisplay

__all__ = [
    "CostDisplay",
    "DimensionDisplay",
    "EliminationDisplay",
    "IntervalsDisplay",
    "LevelsDisplay",
    "MappingDisplay",
    "PathDisplay",
    "RelationsDisplay",
    "RobustnessDisplay",
    "RowSaliencyDisplay",
    "SaliencyMapDisplay",
    "StabilityDisplay",
    "SubstitutesDisplay",
]
