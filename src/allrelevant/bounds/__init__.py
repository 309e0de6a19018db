"""Relevance intervals: how small and how large a weight can be over all equally good models."""

from .baseline import LinearModel
from .estimators.classification import ClassificationBounds

__all__ = ["ClassificationBounds", "LinearModel"]
