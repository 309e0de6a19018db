"""Checkpoints for long runs, written after each step so that a run can be resumed.

- ``file``: the checkpoint file, which stores series of steps and is checked against the run
- ``fingerprint``: identification of a run by its data and its settings
- ``workers``: series whose steps worker processes compute
"""

from __future__ import annotations

from .file import Checkpoint, CheckpointFile, Series, open_checkpoint
from .fingerprint import fingerprint
from .workers import map_series

__all__ = ["Checkpoint", "CheckpointFile", "Series", "fingerprint", "map_series", "open_checkpoint"]
