"""Tables from files, and what must hold before a table can be analysed.

Everything here raises :class:`~allrelevant.InputError` with a message of one line that names the
columns concerned and says what to do about them.
"""

from .classes import class_labels
from .features import split_target
from .reading import read_table

__all__ = ["class_labels", "read_table", "split_target"]
