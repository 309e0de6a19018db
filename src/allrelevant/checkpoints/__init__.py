"""Long runs that can be resumed: each result is written as it comes, and none is lost.

- ``file``: the file of a run; it refuses a run of other data or settings
- ``packing``: results as bytes, numbers and arrays alike
- ``fingerprint``: what a run is known by
"""

from .file import CheckpointFile
from .fingerprint import fingerprint

__all__ = ["CheckpointFile", "fingerprint"]
