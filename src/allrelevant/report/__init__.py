"""A document as one page that needs nothing else: no network, no files beside it."""

from __future__ import annotations

from .page import render

__all__ = ["render"]
