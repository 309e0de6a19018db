"""Figures: display objects that keep their values and can be drawn again."""

from .cost import CostDisplay
from .dimension import DimensionDisplay
from .elimination import EliminationDisplay
from .intervals import IntervalsDisplay
from .mapping import MappingDisplay
from .path import PathDisplay
from .relations import RelationsDisplay
from .reliability import ReliabilityDisplay
from .saliency import RowSaliencyDisplay, SaliencyMapDisplay
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
    "ReliabilityDisplay",
    "RowSaliencyDisplay",
    "SaliencyMapDisplay",
    "StabilityDisplay",
    "SubstitutesDisplay",
]
