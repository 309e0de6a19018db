"""Figures: display objects that keep their values and can be drawn again."""

from .cost import CostDisplay
from .dimension import DimensionDisplay
from .elimination import EliminationDisplay
from .intervals import IntervalsDisplay
from .mapping import MappingDisplay
from .path import PathDisplay
from .relations import RelationsDisplay
from .stability import StabilityDisplay
from .substitutes import SubstitutesDisplay

__all__ = [
    "CostDisplay",
    "DimensionDisplay",
    "EliminationDisplay",
    "IntervalsDisplay",
    "MappingDisplay",
    "PathDisplay",
    "RelationsDisplay",
    "StabilityDisplay",
    "SubstitutesDisplay",
]
