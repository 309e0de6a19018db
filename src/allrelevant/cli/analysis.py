"""From a table to a summary, with warnings on the way turned into notes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..exceptions import AllRelevantError, InputError, RelevanceWarning
from .outputs import Outputs, as_json
from .terminal import result_table, say

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Print this package's warnings as notes, each once, and keep them for the report."""
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", RelevanceWarning)
        show = warnings.showwarning

        def note(message: Any, category: type[Warning], *rest: Any, **named: Any) -> None:
            if not issubclass(category, RelevanceWarning):
                show(message, category, *rest, **named)
            elif (text := " ".join(str(message).split())) not in notes:
                notes.append(text)
                say(f"Note: {text}", err=True)

        warnings.showwarning = note
        yield notes


def analyse(
    frame: pd.DataFrame,
    target: str,
    *,
    drop: tuple[str, ...],
    settings: Mapping[str, Any],
    outputs: Outputs,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Bound the relevance of each column for the target, and hand out the result."""
    from ..report import summarize
    from ..tables import class_labels, split_target

    X, y = split_target(frame, target, drop)
    labels = class_labels(y, target)
    est = fit(X, labels, verbose=int(sys.stderr.isatty() and not outputs.quiet), **settings)
    summary = summarize(est, X, labels, table=table, target=target, warnings=notes, command=command)
    outputs.write(summary)
    _tell(summary, outputs)


def fit(X: pd.DataFrame, y: Any, **settings: Any) -> Any:
    """A fitted estimator; what scikit-learn refuses is an input error too."""
    from .. import ClassificationBounds

    try:
        return ClassificationBounds(**settings).fit(X, y)
    except AllRelevantError:
        raise
    except ValueError as error:
        if not _raised_by_validation(error.__traceback__):
            raise
        raise InputError(str(error)) from error


def _raised_by_validation(traceback: TracebackType | None) -> bool:
    """Whether an error comes from the place where scikit-learn checks its input.

    A ValueError from anywhere else is a bug, and has to look like one.
    """
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = "" if traceback is None else str(traceback.tb_frame.f_globals.get("__name__"))
    return name.startswith("sklearn.utils.")


def _tell(summary: Mapping[str, Any], outputs: Outputs) -> None:
    if outputs.json_to_stdout:
        sys.stdout.write(as_json(summary))
    elif not outputs.quiet:
        say(result_table(summary, unicode=_can_encode("█·…")))
    if outputs.quiet:
        return
    for what, path in (("Report", outputs.page), ("JSON", outputs.json)):
        if path is not None:
            say(f"{what} written to {path}", err=outputs.json_to_stdout)


def _can_encode(characters: str) -> bool:
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
