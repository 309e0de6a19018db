"""JSON-compatible documents (dictionaries) that describe the results of a run."""

from __future__ import annotations

from .bounds import bounds_document
from .document import write_atomically
from .explanation import explanation_document
from .selection import selection_document

__all__ = [
    "bounds_document",
    "explanation_document",
    "selection_document",
    "write_atomically",
]
