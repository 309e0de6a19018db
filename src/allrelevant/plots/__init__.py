"""Figures: display objects that keep their values and can be drawn again."""

from .dimension import DimensionDisplay
from .elimination import EliminationDisplay
from .intervals import IntervalsDisplay
from .mapping import MappingDisplay
from .path import PathDisplay
from .stability import StabilityDisplay

__all__ = [
    "DimensionDisplay",
    "EliminationDisplay",
    "IntervalsDisplay",
    "MappingDisplay",
    "PathDisplay",
    "StabilityDisplay",
]
