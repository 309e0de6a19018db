"""Figures: display objects that keep their values and can be drawn again."""

from .elimination import EliminationDisplay
from .intervals import IntervalsDisplay
from .path import PathDisplay
from .stability import StabilityDisplay

__all__ = ["EliminationDisplay", "IntervalsDisplay", "PathDisplay", "StabilityDisplay"]
