"""Figures: display objects that keep their values and can be drawn again."""

from .cost import CostDisplay
from .intervals import IntervalsDisplay
from .path import PathDisplay
from .relations import RelationsDisplay
from .stability import StabilityDisplay
from .substitutes import SubstitutesDisplay

__all__ = [
    "CostDisplay",
    "IntervalsDisplay",
    "PathDisplay",
    "RelationsDisplay",
    "StabilityDisplay",
    "SubstitutesDisplay",
]
