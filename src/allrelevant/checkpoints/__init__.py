"""Long runs that can be resumed: each result is written as it comes, and none is lost.

- ``file``: the file of a run; it refuses a run of other data or settings
- ``packing``: results as bytes, numbers and arrays alike
- ``fingerprint``, ``settings``: what a run is known by, its data and its settings
"""

from __future__ import annotations

from .file import CheckpointFile
from .fingerprint import fingerprint, run_settings

__all__ = ["CheckpointFile", "fingerprint", "run_settings"]
