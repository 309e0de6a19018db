"""Function and items of a parallel run, as they are sent to workers, and the results they return.

A function contains its data, as arguments of a ``functools.partial`` or in a closure. It is pickled
once. Its arrays are pickled separately, so that each executor can share them with the workers
without copies.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle


@dataclass(frozen=True)
class PickledFunction:
    """Pickled function, without the arrays that :func:`dump_function` returned separately."""

    content: bytes

    def load(self, arrays: Sequence[memoryview]) -> Callable[[Any], Any]:
        """Return the function; its arrays are views of the given memory."""
        return pickle.loads(self.content, buffers=arrays)


def dump_function(
    function: Callable[[Any], Any], min_bytes: int = 0
) -> tuple[PickledFunction, list[memoryview]]:
    """Pickle a function; return arrays of at least ``min_bytes`` separately and uncopied."""
    arrays: list[memoryview] = []

    def keep_in_content(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes >= min_bytes:
            arrays.append(view)
        return view.nbytes < min_bytes

    content = cloudpickle.dumps(function, protocol=5, buffer_callback=keep_in_content)
    return PickledFunction(content), arrays


# Registries of issued warnings, keyed by file, like ``__warningregistry__`` of a module. With the
# filter "default", a warning is shown once per location, not once per item.
_ISSUED: dict[str, dict[Any, Any]] = {}


@dataclass(frozen=True)
class RaisedWarning:
    """Warning that a worker process recorded and returned to the parent process."""

    message: Warning
    category: type[Warning]
    filename: str
    lineno: int

    @classmethod
    def from_caught(cls, caught: warnings.WarningMessage) -> RaisedWarning:
        message = caught.message
        if isinstance(message, str):
            message = caught.category(message)
        return cls(message, caught.category, caught.filename, caught.lineno)

    def issue(self) -> None:
        """Issue the warning in the parent process, subject to its warning filters."""
        warnings.warn_explicit(
            self.message,
            self.category,
            self.filename,
            self.lineno,
            registry=_ISSUED.setdefault(self.filename, {}),
        )


@dataclass(frozen=True)
class Outcome:
    """Result of one item, with the warnings issued while it was processed."""

    index: int
    result: Any
    warnings: list[RaisedWarning]

    def unpack(self) -> tuple[int, Any]:
        """Issue the warnings in this process; return the index and the result."""
        for warning in self.warnings:
            warning.issue()
        return self.index, self.result


def process_item(function: Callable[[Any], Any], index: int, item: Any) -> Outcome:
    """Apply a function to an item in a worker; return its result and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # the parent process applies its filters
        result = function(item)
    return Outcome(index, result, [RaisedWarning.from_caught(warning) for warning in caught])
