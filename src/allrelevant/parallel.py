"""The one seam between the package and its workers: tasks in, results out as they finish.

Nothing else in the package knows how the work is spread. HiGHS lets go of Python's lock while it
solves, so threads share the data and still run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar

from joblib import Parallel, delayed

from .exceptions import MissingExtraError

Task = TypeVar("Task")
Result = TypeVar("Result")


class RunOptions(TypedDict, total=False):
    """The options of :func:`run_tasks`, for functions that pass them on."""

    n_jobs: int | None
    progress: str | None


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> list[Result]:
    """Apply a function to every task, several at a time.

    A result must depend on its task alone: then the answer is the same at any ``n_jobs``.

    Parameters
    ----------
    function : callable
    tasks : sequence
    n_jobs : int or None, default=None
        Number of workers, as in joblib: None is 1, -1 all cores.
    progress : str or None, default=None
        Title of a progress bar on standard error; None shows none.

    Returns
    -------
    list
        Results in the order of the tasks.
    """
    results: dict[int, Result] = {}
    with Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered") as workers:
        finished = workers(delayed(_numbered)(function, i, task) for i, task in enumerate(tasks))
        with _progress_bar(progress, len(tasks)) as bar:
            for index, result in finished:
                results[index] = result
                bar.update()
    return [results[index] for index in range(len(tasks))]


def _numbered(function: Callable[[Task], Result], index: int, task: Task) -> tuple[int, Result]:
    return index, function(task)


def _progress_bar(title: str | None, total: int):  # type: ignore[no-untyped-def]
    try:
        from tqdm import tqdm
    except ImportError:
        if title is None:
            return _Silent()
        raise MissingExtraError(
            "Progress bars need tqdm: pip install 'allrelevant[cli]', or use verbose=0."
        ) from None
    return tqdm(desc=title, total=total, leave=False, disable=title is None)


class _Silent:
    """Stands in for a progress bar where tqdm is not installed."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None

    def update(self) -> None:
        return None
