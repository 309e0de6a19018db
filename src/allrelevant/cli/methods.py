"""The methods of ``allrelevant select``, and which options go with each.

A new method joins by an entry in :data:`METHODS`: the class that does it, and the options it takes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..exceptions import InputError

# Settings of every SVM that judges subsets, and of elimination.
_SVM = frozenset(
    {"kernel", "C", "gamma", "class_weight", "cv", "scoring", "checkpoint", "n_jobs", "verbose"}
)
_ELIMINATION = _SVM | {"step", "criterion", "min_variance", "min_features", "rule", "nested"}

# Of the model that is trained, and of the rounds.
_SALIENCY = frozenset(
    {"model", "kernel", "C", "gamma", "class_weight", "keep", "reps", "min_features", "rule"}
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
        "SaliencySelector", _SALIENCY, maker="allrelevant.cli.saliency", numbers=True
    ),
}

# What a start leaves to the method that starts from it.
_NOT_FOR_A_START = frozenset({"nested", "checkpoint"})


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
    if isinstance(settings["rule"], float):
        raise InputError(
            f"--rule {settings['rule']:g} is a share, and goes with --method saliency; with "
            f"{method} give a number of features, 'best' or 'one_se'."
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
