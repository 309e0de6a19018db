"""A report in two steps: a summary of plain values, then a page that stands on its own."""

from __future__ import annotations

from ..results.bounds import bounds_document
from ..results.document import write_atomically
from ..results.selection import explanation_document, selection_document
from .page import render

__all__ = [
    "bounds_document",
    "explanation_document",
    "render",
    "selection_document",
    "write_atomically",
]
