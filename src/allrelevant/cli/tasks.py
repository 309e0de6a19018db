"""What there is to predict, by which method, and which options go with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..exceptions import InputError

AUTO = "auto"

# The class of the package that does each task. It is imported late: --help need not wait for it.
ESTIMATORS = {
    "classification": "ClassificationBounds",
    "regression": "RegressionBounds",
    "ordinal": "OrdinalBounds",
    "ranking": "RankingBounds",
    "metric": "MetricBounds",
}

# Whose bounds: those of linear models, for one of several tasks, or those of a learned metric.
LINEAR, METRIC = "linear", "metric"
METHODS = (LINEAR, METRIC)
TASKS = tuple(task for task in ESTIMATORS if task != METRIC)

# Which tasks an option goes with, where that is not every task of linear models.
_TASKS_OF_OPTION = {
    "formulation": ("classification",),
    "class_weight": ("classification",),
    "epsilon": ("regression",),
    "learner": (METRIC,),
    "rank": (METRIC,),
    "prototypes": (METRIC,),
    "effective_dimension": (METRIC,),
    "slack": (METRIC,),
    **dict.fromkeys(("standardize", "cutoff", "random_state", "n_jobs"), (*TASKS, METRIC)),
}


def tasks_of_option(name: str) -> tuple[str, ...]:
    """The tasks that an option goes with."""
    return _TASKS_OF_OPTION.get(name, TASKS)


def settings_for(
    task: str, settings: Mapping[str, Any], given: Collection[str], why: str = ""
) -> dict[str, Any]:
    """The settings that go with a task.

    Parameters
    ----------
    task : str
    settings : mapping
        A value for each option of any task.
    given : collection of str
        Which of them the user has given. One that goes with another task is refused; the defaults
        of others are left out.
    why : str, default=""
        What speaks for the task, if it was not given.

    Examples
    --------
    >>> settings_for("ordinal", {"C": 1.0, "epsilon": "cv"}, given={"C"})
    {'C': 1.0}
    """
    others = [name for name in settings if task not in tasks_of_option(name)]
    for name in others:
        if name in given:
            raise InputError(_refusal(name, task, why))
    if task == METRIC and "cutoff" in given and settings["cutoff"] == "probes":
        raise InputError("--cutoff probes does not go with --method metric: give a number.")
    return {name: value for name, value in settings.items() if name not in others}


def _refusal(name: str, task: str, why: str) -> str:
    option, homes = f"--{name.replace('_', '-')}", tasks_of_option(name)
    if task == METRIC:
        return f"{option} does not go with --method metric."
    if homes == (METRIC,):
        return f"{option} goes with --method metric."
    because = f" ({why})" if why else ""
    return f"{option} goes with --task {homes[0]}, and the task is {task}{because}."


def task_of(method: str, task: str, **options: Any) -> str:
    """The task that a method stands for.

    Parameters
    ----------
    method, task : str
        As given.
    **options
        What the method of linear models alone can do; empty where it was not asked for.
    """
    if method == LINEAR:
        return task
    if task not in (AUTO, "classification"):
        raise InputError(f"--method metric tells classes apart; it cannot do --task {task}.")
    for name, value in options.items():
        if value:
            raise InputError(f"--{name} does not go with --method metric.")
    return METRIC
