"""A report in two steps: a summary of plain values, then a page that stands on its own."""

from __future__ import annotations

from ..results.bounds import summarize
from ..results.document import write_atomically
from ..results.selection import summarize_explanation, summarize_selection
from .page import render

__all__ = [
    "render",
    "summarize",
    "summarize_explanation",
    "summarize_selection",
    "write_atomically",
]
