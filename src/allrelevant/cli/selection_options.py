"""The options of ``allrelevant select``, and the values they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .methods import METHODS
from .options import Jobs, Number

Command = TypeVar("Command", bound=Callable[..., Any])


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """A number above zero, or several with commas between."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text of an option, or refuse it."""
        if not isinstance(value, str):
            return value
        one = Number(above=0)
        numbers = [one.convert(part.strip(), param, ctx) for part in value.split(",")]
        return numbers[0] if len(numbers) == 1 else numbers

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return "NUMBER[,NUMBER...]"


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number from 1 on, or one of some words in its place."""

    name = "count"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Read the text of an option, or refuse it."""
        if value in self.words:
            return str(value)
        text = str(value)
        if not text.isdecimal() or int(text) < 1:
            wanted = " or ".join(["a whole number of at least 1", *map(repr, self.words)])
            self.fail(f"{value!r} is not {wanted}.", param, ctx)
        return int(text)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return "|".join(["N", *self.words])


class SubsetSize(Count):
    """A number of features, a share of them, or one of some words in its place."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text of an option, or refuse it."""
        try:
            share = float(value)
        except ValueError:
            share = 1.0
        return share if 0 < share < 1 else super().convert(value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return "|".join(["N", "SHARE", *self.words])


class StepSize(Number):
    """A whole number of features, or a share of them."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Read the text of an option, or refuse it."""
        number = float(super().convert(value, param, ctx))
        if number >= 1 and number != int(number):
            self.fail(f"{value!r} is neither a whole number nor below 1.", param, ctx)
        return int(number) if number >= 1 else number


# Name in the estimators, then what click needs. The defaults are the estimators' own, written here
# again so that --help need not import them; a test holds the two together.
SELECTION_OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "n_candidates": (
        ("--candidates", "n_candidates"),
        {
            "type": Count("auto"),
            "default": 5,
            "help": "ebrfe only: how many of the worst features compete at each step.",
        },
    ),
    "max_rounds": (
        ("--rounds", "max_rounds"),
        {
            "type": click.IntRange(min=1),
            "default": 1,
            "help": "Flips only: how often to go on from the best neighbour.",
        },
    ),
    "model": (
        ("--model",),
        {
            "type": click.Choice(["svm", "mlp"]),
            "default": "svm",
            "help": "Saliency only: what is trained, an SVM or a network (needs torch).",
        },
    ),
    "keep": (
        ("--keep",),
        {
            "type": Number(at_least=0, below=1),
            "default": 0.9,
            "help": "Saliency only: share of the features that goes on to the next round; 0 is a "
            "single round.",
        },
    ),
    "reps": (
        ("--reps",),
        {
            "type": click.IntRange(min=1),
            "default": 1,
            "help": "Saliency only: trainings a round. One is enough for an SVM; 3 for a network.",
        },
    ),
    "random_state": (
        ("--seed", "random_state"),
        {
            "type": click.IntRange(0, 2**32 - 1),
            "default": 0,
            "help": "Saliency only: seed of all that is random.",
        },
    ),
    "kernel": (
        ("--kernel",),
        {
            "type": click.Choice(["linear", "rbf", "poly", "sigmoid"]),
            "default": "linear",
            "help": "Kernel of the SVMs.",
        },
    ),
    "C": (
        ("--C", "C"),
        {
            "type": Numbers(),
            "default": 1.0,
            "help": "Cost of errors; of several the best is chosen at each step. Saliency takes a "
            "single one; of a number to predict, errors are in standard deviations of the target.",
        },
    ),
    "gamma": (
        ("--gamma",),
        {
            "type": Number(above=0, words=("auto",)),
            "default": "auto",
            "help": "Factor in the kernel; 'auto' is one over the number of features left.",
        },
    ),
    "step": (
        ("--step",),
        {
            "type": StepSize(above=0),
            "default": 1,
            "help": "How many features leave at a time; below 1, the share of those left.",
        },
    ),
    "criterion": (
        ("--criterion",),
        {
            "type": click.Choice(["weights", "margin"]),
            "default": "weights",
            "help": "What makes a feature matter: its weight, or what the cost loses without it.",
        },
    ),
    "class_weight": (
        ("--class-weight",),
        {
            "type": click.Choice(["balanced", "cw2", "cw3"]),
            "default": None,
            "help": "Make errors in rare classes cost more. Saliency takes 'balanced' alone.",
        },
    ),
    "min_variance": (
        ("--min-variance",),
        {
            "type": Number(at_least=0),
            "default": 0.0,
            "help": "Leave out features that vary no more than this. (By default each varies by 1: "
            "see --no-standardize.)",
        },
    ),
    "min_features": (
        ("--min-features",),
        {"type": click.IntRange(min=1), "default": 1, "help": "Where elimination ends."},
    ),
    "rule": (
        ("--rule",),
        {
            "type": SubsetSize("best", "one_se"),
            "default": "best",
            "show_default": "best; with saliency half of the features",
            "help": "Which subset: the best, the smallest within one standard error of it, or that "
            "of N features. Saliency has no scores: it takes N, or a share such as 0.25.",
        },
    ),
    "cv": (
        ("--folds", "cv"),
        {"type": click.IntRange(min=2), "default": 5, "help": "Folds of the cross-validation."},
    ),
    "scoring": (
        ("--scoring",),
        {
            "default": None,
            "metavar": "NAME",
            "help": "A scorer of scikit-learn, such as balanced_accuracy or roc_auc.  "
            "[default: accuracy]",
        },
    ),
    "nested": (
        ("--nested",),
        {
            "is_flag": True,
            "default": False,
            "show_default": False,
            "help": "Do the whole selection inside outer folds, too: an honest score.",
        },
    ),
    "checkpoint": (
        ("--checkpoint",),
        {
            "default": None,
            "metavar": "FILE",
            "help": "Written after every step; the same command goes on from there.",
        },
    ),
    "n_jobs": (
        ("--jobs", "n_jobs"),
        {
            "type": Jobs(),
            "default": None,
            "help": "Workers side by side, -1 for all cores. The result is the same.  [default: 1]",
        },
    ),
}


# Of a model that is explained, and what differs from selection: there is one training, without
# choices, and an SVM of a straight line would say the same of every row.
_EXPLANATION_OPTIONS: dict[str, dict[str, Any]] = {
    "model": {"help": "What is trained, an SVM or a network (needs torch)."},
    "kernel": {"default": "rbf", "help": "Kernel of the SVM."},
    "C": {
        "type": Number(above=0),
        "help": "Cost of errors in the SVM; of a number to predict, errors are in standard "
        "deviations of the target.",
    },
    "gamma": {"help": "Factor in the kernel; 'auto' is one over the number of features."},
    "class_weight": {
        "type": click.Choice(["balanced"]),
        "help": "Make errors in rare classes cost more.",
    },
    "random_state": {"help": "Seed of all that is random."},
}


def explanation_options(command: Command) -> Command:
    """Give a command an option for each setting of the model that is explained."""
    for name, own in reversed(_EXPLANATION_OPTIONS.items()):
        names, attributes = SELECTION_OPTIONS[name]
        settings = {**attributes, **own}
        shown = settings["default"] is not None
        command = click.option(*names, **settings, show_default=shown)(command)
    return command


def selection_options(command: Command) -> Command:
    """Give a command an option for each setting of the selectors."""
    for names, attributes in reversed(SELECTION_OPTIONS.values()):
        settings = {"show_default": attributes["default"] is not None, **attributes}
        command = click.option(*names, **settings)(command)
    return click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="svmrfe",
        show_default=True,
        help="How to select.",
    )(command)
