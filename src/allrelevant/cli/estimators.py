"""The methods of ``allrelevant select``, and which options go with each.

A new method joins by an entry in :data:`METHODS`: the class that does it, and the options it takes.

Settings of the command line as models to train and as a selector over them.

What there is to predict, by which method, and which options go with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .._params import AUTO
from ..exceptions import InputError

# Settings of every SVM that judges subsets, and of elimination.
_SVM = frozenset(
    {"kernel", "C", "gamma", "class_weight", "cv", "scoring", "checkpoint", "n_jobs", "verbose"}
)


_ELIMINATION = _SVM | {
    "step",
    "criterion",
    "min_variance",
    "min_features_to_select",
    "n_features_to_select",
    "nested_cv",
}


# Of the model that is trained, and of the rounds.
_SALIENCY = frozenset(
    {
        "model",
        "kernel",
        "C",
        "gamma",
        "class_weight",
        "keep_fraction",
        "n_repeats",
        "min_features_to_select",
        "n_features_to_select",
    }
    | {"random_state", "checkpoint", "n_jobs", "verbose"}
)


@dataclass(frozen=True)
class Method:
    """A way to select.

    Attributes
    ----------
    estimator : str
        Class of the package that does it. It is imported late: --help need not wait for it.
    options : frozenset of str
        Settings that it takes.
    start : str or None
        The method whose subset it starts from; settings that are not its own go there.
    maker : str or None
        Module whose function ``make`` builds it, where settings are not parameters as they are.
    numbers : bool
        Whether the target may be a number, too, and not classes alone.
    """

    estimator: str
    options: frozenset[str]
    start: str | None = None
    maker: str | None = None
    numbers: bool = False


METHODS = {
    "svmrfe": Method("SVMRFE", _ELIMINATION),
    "ebrfe": Method("EBRFE", _ELIMINATION | {"n_candidates"}),
    "bitflip": Method("BitFlip", _SVM | {"max_rounds"}, start="svmrfe"),
    "attributeflip": Method("AttributeFlip", _SVM | {"max_rounds"}, start="svmrfe"),
    "saliency": Method(
        "SaliencySelector", _SALIENCY, maker="allrelevant.cli.estimators", numbers=True
    ),
}


# What a start leaves to the method that starts from it.
_NOT_FOR_A_START = frozenset({"nested_cv", "checkpoint"})


def build(
    method: str, settings: Mapping[str, Any], given: Collection[str], *, classes: bool = True
) -> Any:
    """The estimator of a method, not yet fitted.

    Parameters
    ----------
    method : str
    settings : mapping
        A value for each option of any method.
    given : collection of str
        Which of them the user has given. One that does not go with the method is refused.
    classes : bool, default=True
        Whether the target holds classes or numbers.
    """
    wanted = METHODS[method]
    starting = METHODS[wanted.start].options - _NOT_FOR_A_START if wanted.start else frozenset()
    _require_options_of(method, wanted.options | starting, settings, given)
    own = {name: value for name, value in settings.items() if name in wanted.options}
    if wanted.maker is not None:
        return import_module(wanted.maker).make(own, given, classes=classes)
    if isinstance(settings["n_features_to_select"], float):
        raise InputError(
            f"--n-features {settings['n_features_to_select']:g} is a share, and goes with "
            f"--method saliency; with {method} give a number of features, 'best' or 'one_se'."
        )
    estimator = getattr(import_module("allrelevant"), wanted.estimator)
    if wanted.start is None:
        return estimator(**own)
    theirs = {name: value for name, value in settings.items() if name in starting}
    return estimator(build(wanted.start, theirs, ()), **own)


def _require_options_of(
    method: str, options: Collection[str], settings: Mapping[str, Any], given: Collection[str]
) -> None:
    for name in settings:
        if name in given and name not in options:
            others = [other for other, entry in METHODS.items() if name in entry.options]
            raise InputError(
                f"--{_option(name)} goes with --method {' or '.join(others)}, and the method is "
                f"{method}."
            )


def _option(name: str) -> str:
    names = {
        "n_candidates": "candidates",
        "max_rounds": "rounds",
        "cv": "folds",
        "random_state": "seed",
    }
    return names.get(name, name).replace("_", "-")


SVM, MLP = "svm", "mlp"


MODELS = (SVM, MLP)


_OF_SVMS = {"kernel": "--kernel", "C": "--C", "gamma": "--gamma", "class_weight": "--class-weight"}


def make(settings: Mapping[str, Any], given: Collection[str], *, classes: bool) -> Any:
    """A SaliencySelector, not yet fitted.

    Parameters
    ----------
    settings : mapping
        The options of ``allrelevant select --method saliency``.
    given : collection of str
        Which of them the user has given.
    classes : bool
        Whether to predict classes or numbers.
    """
    from .. import SaliencySelector

    return SaliencySelector(
        trainer(settings, given, classes=classes),
        keep_fraction=settings["keep_fraction"],
        n_repeats=settings["n_repeats"],
        min_features_to_select=settings["min_features_to_select"],
        n_features_to_select=_size(settings["n_features_to_select"])
        if "n_features_to_select" in given
        else None,
        random_state=settings["random_state"],
        checkpoint=settings["checkpoint"],
        n_jobs=settings["n_jobs"],
        verbose=settings["verbose"],
    )


def _size(rule: float | str) -> float:
    """How many features, or which share: a ranking has no scores to choose by."""
    if isinstance(rule, str):
        raise InputError(
            f"--n-features {rule} needs scores, and saliency gives a ranking: give a number of "
            "features or a share of them, such as 20 or 0.25."
        )
    return rule


def trainer(settings: Mapping[str, Any], given: Collection[str], *, classes: bool) -> Any:
    """Who is trained: an SVM, or the network that goes by a name.

    Parameters
    ----------
    settings : mapping
        ``model``, ``kernel``, ``C``, ``gamma``, ``class_weight``, ``random_state``.
    given : collection of str
        Which of them the user has given. One that the model has no use for is refused.
    classes : bool
        Whether to predict classes or numbers, which have to be standardized.
    """
    if settings["model"] == MLP:
        return _network(settings["random_state"], given, classes=classes)
    if not isinstance(settings["C"], float):
        raise InputError("Saliency takes one value of C: there are no scores to choose by.")
    return _svm(settings, classes=classes)


def _network(seed: int, given: Collection[str], *, classes: bool) -> Any:
    for name, option in _OF_SVMS.items():
        if name in given:
            raise InputError(f"{option} goes with --model svm, and the model is mlp.")
    from ..saliency.trainers import clone_with_seed, trainer_for

    return clone_with_seed(trainer_for(MLP, classes=classes), seed)


def _svm(settings: Mapping[str, Any], *, classes: bool) -> Any:
    from sklearn.svm import SVC, SVR

    own = {name: settings[name] for name in ("kernel", "C", "gamma")}
    weight = settings["class_weight"]
    if not classes:
        if weight is not None:
            raise InputError("--class-weight goes with classes, and the target is a number.")
        return SVR(**own)
    if weight not in (None, "balanced"):
        raise InputError(
            f"--class-weight {weight} goes with elimination; with saliency there is 'balanced'."
        )
    return SVC(class_weight=weight, **own)


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


BOUNDS_METHODS = (LINEAR, METRIC)


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
