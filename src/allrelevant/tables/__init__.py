"""Tables from files, and what must hold before a table can be analysed.

Everything here raises :class:`~allrelevant.InputError` with a message of one line that names the
columns concerned and says what to do about them.
"""

from __future__ import annotations

from .features import split_privileged, split_target
from .inference import InferredTask, infer_task
from .reading import read_table
from .target import class_labels, target_for

__all__ = [
    "InferredTask",
    "class_labels",
    "infer_task",
    "read_table",
    "split_privileged",
    "split_target",
    "target_for",
]
