"""Long runs that can be resumed: each step is written as soon as it is done.

- ``file``: the file of a run and its series of steps; it refuses a run of other data or settings
- ``fingerprint``: what a run is known by, its data and its settings
"""

from __future__ import annotations

from .file import Checkpoint, CheckpointFile, Series, open_checkpoint
from .fingerprint import fingerprint

__all__ = ["Checkpoint", "CheckpointFile", "Series", "fingerprint", "open_checkpoint"]
