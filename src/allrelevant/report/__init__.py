"""HTML reports: self-contained pages without external files or network access."""

from __future__ import annotations

from .page import render

__all__ = ["render"]
