"""From a task or a method, and the options of a command, to an estimator.

An estimator takes the options whose names its constructor has. Where its first argument is another
estimator (a selector to start from, a model to train, a learner), that one is built from options as
well. The public names of the package are looked up when a command runs, so that ``--help`` imports
no estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._params import LINEAR_TASKS, METRIC, PROBES, TASKS
from ..exceptions import AllRelevantError, InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Options:
    """Values of options by name, and the flags of those that the user has given."""

    settings: Mapping[str, Any]
    given: Mapping[str, str]


@dataclass(frozen=True)
class Method:
    """How an estimator, by its public name, is built from options.

    The first argument of its constructor may come from a ``component``, called with the options
    that it has parameters for, ``task`` and ``given``; or from the method that it starts from.
    """

    estimator: str
    help: str = ""
    component: Callable[..., Any] | None = None
    starts_from: str | None = None
    tasks: tuple[str, ...] = ("classification",)

    @property
    def parameters(self) -> set[str]:
        """Names of the options of its own."""
        names = set(signature(_public(self.estimator)).parameters)
        return names | set(signature(self.component).parameters) if self.component else names

    @property
    def options(self) -> set[str]:
        """Names of the options that it takes, with those of the method it starts from."""
        start = METHODS[self.starts_from].parameters - NOT_FOR_START if self.starts_from else set()
        return self.parameters | start

    @property
    def cross_validates(self) -> bool:
        """Whether subsets of features have scores to choose by."""
        return "cv" in self.parameters

    def build(self, options: Options, task: str) -> Any:
        """The estimator, not yet fitted; an option without a value is left to its constructor."""
        constructor = _public(self.estimator)
        first = next(iter(signature(constructor).parameters))
        values = {name: value for name, value in options.settings.items() if value is not None}
        if self.component is not None:
            context = {"task": task, "given": options.given}
            values[first] = _call(self.component, {**options.settings, **context})
        if self.starts_from is not None:
            rest = {name: values[name] for name in values if name not in NOT_FOR_START}
            values[first] = METHODS[self.starts_from].build(replace(options, settings=rest), task)
        return _call(constructor, values)


def _public(name: str) -> Any:
    return getattr(import_module("allrelevant"), name)


def _call(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a function with the values that it has parameters for."""
    names = signature(function).parameters
    return function(**{name: value for name, value in values.items() if name in names})


LEARNERS = {"gmlvq": "GMLVQ", "lmnn": "LMNN"}


def metric_learner(learner: str, rank: int, prototypes_per_class: int, random_state: int) -> Any:
    """The learner of a metric, not yet fitted."""
    values = {"rank": rank, "prototypes_per_class": prototypes_per_class}
    return _call(_public(LEARNERS[learner]), {**values, "random_state": random_state})


SVM, MLP = "svm", "mlp"
MODELS = (SVM, MLP)


def model_to_train(
    *,
    task: str,
    given: Mapping[str, str],
    model: str,
    kernel: str,
    C: float | list[float],
    gamma: float | str,
    class_weight: str | None,
    random_state: int,
) -> Any:
    """A model with gradients, not yet fitted: an SVM, or the network that goes by a name.

    Options of SVMs that were given for a network are refused.
    """
    if model == MLP:
        for name, flag in given.items():
            if name in ("kernel", "C", "gamma", "class_weight"):
                raise InputError(f"{flag} goes with --model svm, and the model is mlp.")
        from ..saliency.trainers import clone_with_seed, trainer_for

        return clone_with_seed(trainer_for(MLP, classes=task == "classification"), random_state)
    from sklearn.svm import SVC, SVR

    if not isinstance(C, float):
        raise InputError("Saliency takes one value of C: there are no scores to choose by.")
    if task == "regression":
        if class_weight is not None:
            raise InputError("--class-weight goes with classes, and the target is a number.")
        return SVR(kernel=kernel, C=C, gamma=gamma)
    if class_weight not in (None, "balanced"):
        raise InputError(
            f"--class-weight {class_weight} goes with elimination; with saliency there is "
            "'balanced'."
        )
    return SVC(kernel=kernel, C=C, gamma=gamma, class_weight=class_weight)


# Methods of ``allrelevant select``.
METHODS = {
    "svmrfe": Method("SVMRFE", "the feature of the smallest weight leaves, again and again"),
    "ebrfe": Method(
        "EBRFE", "the worst few compete, and cross-validation decides which one leaves"
    ),
    "bitflip": Method(
        "BitFlip", "svmrfe, then one feature more or less if that is better", starts_from="svmrfe"
    ),
    "attributeflip": Method(
        "AttributeFlip",
        "svmrfe, then one feature for another if that is better",
        starts_from="svmrfe",
    ),
    "saliency": Method(
        "SaliencySelector",
        "features on which the right answers of a model hang least leave, round by round",
        component=model_to_train,
        tasks=("classification", "regression"),
    ),
}

# What the method that starts from another one does not leave to it.
NOT_FOR_START = frozenset({"nested_cv", "checkpoint"})

# Relevance bounds, by task.
BOUNDS = {task: Method(TASKS[task]) for task in LINEAR_TASKS}
BOUNDS[METRIC] = Method(TASKS[METRIC], component=metric_learner)


def build_selector(name: str, options: Options, task: str) -> Any:
    """The estimator of a method of ``select``, not yet fitted."""
    method = METHODS[name]
    for option, flag in options.given.items():
        if option not in method.options:
            others = [other for other in METHODS if option in METHODS[other].parameters]
            raise InputError(
                f"{flag} goes with --method {' or '.join(others)}, and the method is {name}."
            )
    size = options.settings["n_features_to_select"]
    if method.cross_validates and isinstance(size, float):
        raise InputError(
            f"--n-features {size:g} is a share, and goes with --method saliency; with {name} give "
            "a number of features, 'best' or 'one_se'."
        )
    if not method.cross_validates and isinstance(size, str):
        raise InputError(
            f"--n-features {size} needs scores, and saliency gives a ranking: give a number of "
            "features or a share of them, such as 20 or 0.25."
        )
    return method.build(options, task)


def build_bounds(task: str, options: Options, reason: str = "") -> Any:
    """The estimator of a task, not yet fitted; the reason is why the task was inferred."""
    method = BOUNDS[task]
    for option, flag in options.given.items():
        if option not in method.options:
            raise InputError(_option_of_other_tasks(option, flag, task, reason))
    if task == METRIC and options.settings["cutoff"] == PROBES:
        raise InputError("--cutoff probes does not go with --method metric: give a number.")
    return method.build(options, task)


def _option_of_other_tasks(option: str, flag: str, task: str, reason: str) -> str:
    if task == METRIC:
        return f"{flag} does not go with --method metric."
    others = [other for other in LINEAR_TASKS if option in BOUNDS[other].options]
    if not others:
        return f"{flag} goes with --method metric."
    because = f" ({reason})" if reason else ""
    return f"{flag} goes with --task {' or '.join(others)}, and the task is {task}{because}."


def fit(est: Any, X: pd.DataFrame, y: Any, **more: Any) -> Any:
    """Fit an estimator; what scikit-learn refuses is an input error too."""
    try:
        return est.fit(X, y, **more)
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
