"""Figures: display objects that keep their values and can be drawn again."""

from .intervals import IntervalsDisplay
from .path import PathDisplay

__all__ = ["IntervalsDisplay", "PathDisplay"]
