"""Construction of estimators from the options of a command.

Each option is passed to the constructor parameter with the same name. The first parameter of some
estimators is itself an estimator: an initial selector, a model to train or a metric learner. It is
built from the same options. Estimators are looked up by name when a command runs, so ``--help``
does not import them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._params import LINEAR_TASKS, METRIC, TASKS
from ..exceptions import AllRelevantError, InputError

if TYPE_CHECKING:
    from ..parallel import Job


@dataclass(frozen=True)
class Options:
    """Option values by name, and the flags that the user passed."""

    settings: Mapping[str, Any]
    user_flags: Mapping[str, str]


@dataclass(frozen=True)
class Method:
    """Description of an estimator that can be built from command-line options.

    The first argument of the constructor may be built by ``component``. This function receives
    ``task``, ``user_flags`` and the options for which it has parameters. Alternatively, the first
    argument is the estimator of the method ``starts_from``. ``accepts_fraction`` tells whether the
    number of features to select can be a fraction.
    """

    estimator: str
    help: str = ""
    component: Callable[..., Any] | None = None
    starts_from: str | None = None
    accepts_fraction: bool = False
    tasks: tuple[str, ...] = ("classification",)

    @property
    def parameters(self) -> set[str]:
        """Names of the options that apply to this estimator, without its initial selector."""
        names = set(signature(_public(self.estimator)).parameters)
        return names | set(signature(self.component).parameters) if self.component else names

    @property
    def options(self) -> set[str]:
        """Names of the options that apply to this estimator or to its initial selector."""
        start = METHODS[self.starts_from].parameters - NOT_FOR_START if self.starts_from else set()
        return self.parameters | start

    @property
    def selects_later(self) -> bool:
        """Whether a fitted selector can select a different number of features."""
        return "n_features_to_select" in self.parameters

    def build(self, options: Options, task: str) -> Any:
        """Return the unfitted estimator; options set to None get the constructor's default."""
        constructor = _public(self.estimator)
        first = next(iter(signature(constructor).parameters))
        values = {name: value for name, value in options.settings.items() if value is not None}
        if self.component is not None:
            context = {"task": task, "user_flags": options.user_flags}
            values[first] = _call(self.component, {**options.settings, **context})
        if self.starts_from is not None:
            rest = {name: values[name] for name in values if name not in NOT_FOR_START}
            values[first] = METHODS[self.starts_from].build(replace(options, settings=rest), task)
        return _call(constructor, values)


def _public(name: str) -> Any:
    return getattr(import_module("allrelevant"), name)


def _call(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a function with those of the given values that match its parameter names."""
    names = signature(function).parameters
    return function(**{name: value for name, value in values.items() if name in names})


LEARNERS = {"gmlvq": "GMLVQ", "lmnn": "LMNN"}


def metric_learner(learner: str, rank: int, prototypes_per_class: int, random_state: int) -> Any:
    """Return an unfitted metric learner, GMLVQ or LMNN, with the given settings."""
    values = {"rank": rank, "prototypes_per_class": prototypes_per_class}
    return _call(_public(LEARNERS[learner]), {**values, "random_state": random_state})


SVM, MLP = "svm", "mlp"
MODELS = (SVM, MLP)


def model_to_train(
    *,
    task: str,
    user_flags: Mapping[str, str],
    model: str,
    kernel: str,
    C: float | list[float],
    gamma: float | str,
    class_weight: str | None,
    random_state: int,
) -> Any:
    """Return the unfitted SVM or network that a saliency selector trains.

    Raises ``InputError`` if SVM options are set for a network.
    """
    if model == MLP:
        for name, flag in user_flags.items():
            if name in ("kernel", "C", "gamma", "class_weight"):
                raise InputError(f"{flag} requires --model svm (got mlp).")
        from ..saliency.trainers import clone_with_seed, trainer_for

        return clone_with_seed(trainer_for(MLP, classes=task == "classification"), random_state)
    from sklearn.svm import SVC, SVR

    if not isinstance(C, float):
        raise InputError(
            "--method saliency cannot choose among several values of C. Pass a single value."
        )
    if task == "regression":
        if "class_weight" in user_flags:
            raise InputError(
                "--class-weight requires a classification task, but the target is numeric. Remove "
                "--class-weight."
            )
        return SVR(kernel=kernel, C=C, gamma=gamma)
    class_weight = class_weight or None
    if class_weight not in (None, "balanced"):
        raise InputError(
            f"--class-weight {class_weight} is not available for saliency. Use 'balanced', or a "
            "different --method."
        )
    return SVC(kernel=kernel, C=C, gamma=gamma, class_weight=class_weight)


# Methods of ``allrelevant select``.
METHODS = {
    "svmrfe": Method("SVMRFE", "repeatedly remove the feature with the smallest weight"),
    "ebrfe": Method(
        "EBRFE", "repeatedly remove one of the worst features, chosen by cross-validation"
    ),
    "bitflip": Method(
        "BitFlip",
        "run svmrfe, then add or remove one feature if that improves the score",
        starts_from="svmrfe",
    ),
    "attributeflip": Method(
        "AttributeFlip",
        "run svmrfe, then exchange one feature if that improves the score",
        starts_from="svmrfe",
    ),
    "saliency": Method(
        "SaliencySelector",
        "repeatedly remove the features that correct predictions depend on least",
        component=model_to_train,
        accepts_fraction=True,
        tasks=("classification", "regression"),
    ),
}

# Options that are not passed on to the method in ``starts_from``.
NOT_FOR_START = frozenset({"nested_cv", "checkpoint"})

# Relevance bounds, by task.
BOUNDS = {task: Method(TASKS[task]) for task in LINEAR_TASKS}
BOUNDS[METRIC] = Method(TASKS[METRIC], component=metric_learner)


def build_selector(name: str, options: Options, task: str, *, keep_size: bool = True) -> Any:
    """Return the unfitted feature selector of a method; raise if an option does not apply to it.

    Without ``keep_size``, the number of features to select is not passed on.
    """
    method = METHODS[name]
    for option, flag in options.user_flags.items():
        if option not in method.options:
            others = [other for other in METHODS if option in METHODS[other].parameters]
            raise InputError(f"{flag} requires --method {' or '.join(others)} (got {name}).")
    size = options.settings["n_features_to_select"]
    if isinstance(size, float) and not method.accepts_fraction:
        raise InputError(
            f"--n-features {size:g} is a fraction, which requires --method saliency (got {name}). "
            "Pass a number of features or a rule, such as 'best'."
        )
    if not keep_size:
        options = replace(options, settings={**options.settings, "n_features_to_select": None})
    return method.build(options, task)


def build_bounds(task: str, options: Options, reason: str = "") -> Any:
    """Return the unfitted bounds estimator of a task; raise if an option does not apply to it.

    ``reason`` explains how the task was inferred, for the error message.
    """
    method = BOUNDS[task]
    for option, flag in options.user_flags.items():
        if option not in method.options:
            raise InputError(_unsupported_option(option, flag, task, reason))
    cutoff = options.settings["cutoff"]
    if task == METRIC and isinstance(cutoff, str):
        raise InputError(
            f"--cutoff {cutoff} cannot be combined with --method metric. Pass a number."
        )
    return method.build(options, task)


def _unsupported_option(option: str, flag: str, task: str, reason: str) -> str:
    if task == METRIC:
        return f"{flag} cannot be combined with --method metric. Remove one of the two options."
    others = [other for other in LINEAR_TASKS if option in BOUNDS[other].options]
    if not others:
        return f"{flag} requires --method metric. Add this option, or remove {flag}."
    because = f", inferred because {reason}" if reason else ""
    return f"{flag} requires --task {' or '.join(others)} (got {task}{because})."


def fit(est: Any, X: Any, y: Any, *, job: Job | None = None, **kwargs: Any) -> Any:
    """Fit an estimator; convert validation errors of scikit-learn to ``InputError``.

    Bounds of linear models can be fitted as a step of a job.
    """
    method = est.fit if job is None else partial(est._fit_in_job, job)
    try:
        return method(X, y, **kwargs)
    except AllRelevantError:
        raise
    except ValueError as error:
        if not _raised_by_validation(error.__traceback__):
            raise
        raise InputError(str(error)) from error


def _raised_by_validation(traceback: TracebackType | None) -> bool:
    """Check whether an error was raised by the input validation of scikit-learn.

    Any other ``ValueError`` is a bug and must keep its traceback.
    """
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = "" if traceback is None else str(traceback.tb_frame.f_globals.get("__name__"))
    return name.startswith("sklearn.utils.")
