"""What there is to predict, and which options go with it."""

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
}
TASKS = tuple(ESTIMATORS)

# Options that only one task has; all others go with every task.
TASK_OF_OPTION = {
    "formulation": "classification",
    "class_weight": "classification",
    "epsilon": "regression",
}


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
    others = {name: home for name, home in TASK_OF_OPTION.items() if home != task}
    for name in settings:
        if name in given and name in others:
            because = f" ({why})" if why else ""
            raise InputError(
                f"--{name.replace('_', '-')} goes with --task {others[name]}, and the task is "
                f"{task}{because}."
            )
    return {name: value for name, value in settings.items() if name not in others}
