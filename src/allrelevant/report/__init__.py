"""A report in two steps: a summary of plain values, then a page that stands on its own."""

from .explanation import summarize_explanation
from .page import render
from .selection import summarize_selection
from .summary import summarize
from .writing import write_atomically

__all__ = [
    "render",
    "summarize",
    "summarize_explanation",
    "summarize_selection",
    "write_atomically",
]
