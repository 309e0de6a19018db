"""Figures: display objects that keep their values and can be drawn again."""

from .intervals import IntervalsDisplay

__all__ = ["IntervalsDisplay"]
