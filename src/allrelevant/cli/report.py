"""From a table to a summary, with warnings on the way turned into notes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._params import AUTO
from ..exceptions import AllRelevantError, InputError, RelevanceWarning
from .estimators import ESTIMATORS, METRIC, settings_for
from .output import Outputs, as_json, echo, result_table

if TYPE_CHECKING:
    import pandas as pd

    from ..bounds.path import Param


# Sets of features to look for where costs are given, and how long.
_N_SETS = 5


_SECONDS = 60.0


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
                echo(f"Note: {text}", err=True)

        warnings.showwarning = note
        yield notes


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns of a table are for; all others are features."""

    target: str
    drop: tuple[str, ...] = ()
    privileged: tuple[str, ...] = ()


@dataclass(frozen=True)
class OptionalParts:
    """What to find out besides the bounds."""

    relations: bool = False
    costs: Mapping[str, float] | None = None

    def check(self, features: Iterable[str]) -> None:
        """Refuse costs that do not fit the table, before the long work."""
        from ..bounds.design import read_costs

        read_costs(self.costs, list(features))

    def answers(self, est: Any) -> dict[str, Any]:
        """What is asked of a fitted estimator, as the report takes it."""
        design = None
        if self.costs is not None:
            design = est.cheapest(self.costs, n_solutions=_N_SETS, max_seconds=_SECONDS)
        return {"relations": est.relations() if self.relations else None, "design": design}


_NONE = OptionalParts()


def analyse(
    frame: pd.DataFrame,
    columns: ColumnRoles,
    *,
    task: str,
    settings: Mapping[str, Any],
    given: Collection[str],
    path: Param | None = None,
    questions: OptionalParts = _NONE,
    outputs: Outputs,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Bound the relevance of each column for the target, and hand out the result."""
    from ..bounds.path import bounds_path
    from ..results import bounds_document
    from ..tables import InferredTask, infer_task, split_privileged, split_target, target_for

    target, drop = columns.target, columns.drop
    X, y = split_target(frame, target, drop)
    X, privileged = split_privileged(X, columns.privileged, target=target, drop=drop)
    questions.check(X.columns)
    inferred = infer_task(y) if task == AUTO else None
    found = inferred or InferredTask(task, "")
    values = target_for("classification" if found.task == METRIC else found.task, y, target)
    wanted = settings_for(found.task, settings, given, found.reason)
    if inferred and not outputs.quiet:
        echo(inferred.note, err=True)
    wanted["verbose"] = int(sys.stderr.isatty() and not outputs.quiet)
    est = fit(found.task, wanted, X, values, privileged)
    along = None if path is None else bounds_path(est, X, values, param=path, privileged=privileged)
    summary = bounds_document(
        est,
        X,
        values,
        table=table,
        target=target,
        task_note=inferred.note if inferred else None,
        path=along,
        **questions.answers(est),
        warnings=notes,
        command=command,
    )
    outputs.write(summary)
    _tell(summary, outputs)


def fit(
    task: str, settings: Mapping[str, Any], X: pd.DataFrame, y: Any, privileged: Any = None
) -> Any:
    """A fitted estimator of bounds."""
    if task == METRIC:
        return fitted(metric_bounds(settings), X, y)
    estimator = getattr(import_module("allrelevant"), ESTIMATORS[task])
    return fitted(estimator(**settings), X, y, privileged=privileged)


def fitted(est: Any, X: pd.DataFrame, y: Any, **more: Any) -> Any:
    """Fit an estimator; what scikit-learn refuses is an input error too."""
    try:
        return est.fit(X, y, **more)
    except AllRelevantError:
        raise
    except ValueError as error:
        if not _raised_by_validation(error.__traceback__):
            raise
        raise InputError(str(error)) from error


def metric_bounds(settings: Mapping[str, Any]) -> Any:
    """Bounds of a metric, from the settings of the command."""
    from .. import GMLVQ, LMNN, MetricBounds

    rest = dict(settings)
    learner, rank, prototypes = (rest.pop(name) for name in ("learner", "rank", "prototypes"))
    seed = rest["random_state"]
    if rest["cutoff"] == "probes":  # the default of the other method
        del rest["cutoff"]
    if learner == "lmnn":
        return MetricBounds(LMNN(rank=rank, random_state=seed), **rest)
    return MetricBounds(
        GMLVQ(rank=rank, prototypes_per_class=prototypes, random_state=seed), **rest
    )


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
        echo(result_table(summary, unicode=_can_encode("█·…")))
    if outputs.quiet:
        return
    for what, path in (("Report", outputs.page), ("JSON", outputs.json)):
        if path is not None:
            echo(f"{what} written to {path}", err=outputs.json_to_stdout)


def _can_encode(characters: str) -> bool:
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
