"""Figures: display objects that keep their values and can be drawn again."""

from .intervals import IntervalsDisplay
from .path import PathDisplay
from .stability import StabilityDisplay

__all__ = ["IntervalsDisplay", "PathDisplay", "StabilityDisplay"]
