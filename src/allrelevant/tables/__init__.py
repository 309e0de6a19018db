"""Tables from files, and what must hold before a table can be analysed.

Everything here raises :class:`~allrelevant.InputError` with a message of one line that names the
columns concerned and says what to do about them.
"""

from .classes import class_labels
from .features import split_target
from .privileged import split_privileged
from .reading import read_table
from .targets import target_for
from .task import InferredTask, infer_task

__all__ = [
    "InferredTask",
    "class_labels",
    "infer_task",
    "read_table",
    "split_privileged",
    "split_target",
    "target_for",
]
