"""Options that the commands share, and the values they take.

The options of ``allrelevant select``, and the values they take.

Options of every command that reads a table: its columns, and what to make of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from .._params import AUTO
from .estimators import METHODS, tasks_of_option

Command = TypeVar("Command", bound=Callable[..., Any])


class Number(click.ParamType):  # type: ignore[type-arg]
    """A finite number within limits, or one of some words in its place."""

    name = "number"

    def __init__(
        self,
        *,
        at_least: float | None = None,
        above: float | None = None,
        below: float | None = None,
        words: tuple[str, ...] = (),
    ) -> None:
        self.at_least = at_least
        self.above = above
        self.below = below
        self.words = words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Read the text of an option, or refuse it."""
        if value in self.words:
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not self._accepts(number):
            self.fail(f"{value!r} is not {self._wanted()}.", param, ctx)
        return number

    def _accepts(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def _wanted(self) -> str:
        limits = {"of at least": self.at_least, "above": self.above, "below": self.below}
        known = [f"{word} {limit:g}" for word, limit in limits.items() if limit is not None]
        return " or ".join(["a number " + " and ".join(known), *map(repr, self.words)])

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return "|".join(["NUMBER", *self.words])


class Jobs(click.ParamType):  # type: ignore[type-arg]
    """A number of workers: positive, or negative to count back from all cores, never zero."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the text of an option, or refuse it."""
        try:
            jobs = int(value)
        except ValueError:
            jobs = 0
        if jobs == 0:
            self.fail(f"{value!r} is not a number of workers (1, 2, ..., or -1).", param, ctx)
        return jobs


class Dimension(click.ParamType):  # type: ignore[type-arg]
    """A number of directions, or a word for how to choose it."""

    name = "integer"
    words = ("cv", "spectrum")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Read the text of an option, or refuse it."""
        if value in self.words:
            return str(value)
        if not str(value).isdecimal() or int(value) == 0:
            self.fail(f"{value!r} is not a number of directions, 'cv' or 'spectrum'.", param, ctx)
        return int(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return "|".join(["NUMBER", *self.words])


class NamedValue(click.ParamType):  # type: ignore[type-arg]
    """One of some words, each of which stands for a value."""

    name = "word"

    def __init__(self, **values: Any) -> None:
        self.values = values

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text of an option, or refuse it."""
        if value not in self.values:
            wanted = " or ".join(map(repr, self.values))
            self.fail(f"{value!r} is not {wanted}.", param, ctx)
        return self.values[value]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What the help shows in the value's place."""
        return f"[{'|'.join(self.values)}]"


# Name in the estimator, then what click needs. The defaults are the estimator's own, written here
# again so that --help need not import it; a test holds the two together.
_ESTIMATOR_OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "C": (
        ("--C", "C"),
        {
            "type": Number(above=0, words=("cv",)),
            "default": "cv",
            "help": "Weight of the loss against the norm; 'cv' chooses it by cross-validation.",
        },
    ),
    "norm_slack": (
        ("--norm-slack",),
        {
            "type": Number(at_least=0),
            "default": 0.1,
            "help": "How much larger than the baseline's the norm of an equally good model may be.",
        },
    ),
    "loss_slack": (
        ("--loss-slack",),
        {
            "type": Number(at_least=0),
            "default": 0.05,
            "help": "How much larger than the baseline's its loss may be.",
        },
    ),
    "loss_tol": (
        ("--loss-tol",),
        {
            "type": Number(at_least=0),
            "default": 1e-6,
            "help": "How much more loss is allowed in any case, even where the baseline has none.",
        },
    ),
    "formulation": (
        ("--formulation",),
        {
            "type": click.Choice(["separate", "joint"]),
            "default": "separate",
            "help": "Classification only: limit norm and loss each for itself, or their sum.",
        },
    ),
    "class_weight": (
        ("--class-weight",),
        {
            "type": click.Choice(["balanced"]),
            "default": None,
            "help": "Classification only: 'balanced' gives each class the same say, however rare.",
        },
    ),
    "epsilon": (
        ("--epsilon",),
        {
            "type": Number(at_least=0, words=("cv",)),
            "default": "cv",
            "help": "Regression only: errors no larger than this cost nothing, in units of the "
            "target; 'cv' chooses it by cross-validation.",
        },
    ),
    "learner": (
        ("--learner",),
        {
            "type": click.Choice(["gmlvq", "lmnn"]),
            "default": "gmlvq",
            "help": "Metric only: prototypes of each class, or nearest neighbours.",
        },
    ),
    "rank": (
        ("--rank",),
        {
            "type": click.IntRange(min=1),
            "default": 2,
            "help": "Metric only: number of directions that the metric measures.",
        },
    ),
    "prototypes": (
        ("--prototypes",),
        {
            "type": click.IntRange(min=1),
            "default": 1,
            "help": "Metric only: prototypes of each class, for gmlvq.",
        },
    ),
    "effective_dimension": (
        ("--effective-dimension",),
        {
            "type": Dimension(),
            "default": "cv",
            "help": "Metric only: in how many directions of the data the mapping has to stay the "
            "same; 'cv' chooses by cross-validation, 'spectrum' takes 99% of the variance.",
        },
    ),
    "slack": (
        ("--slack",),
        {
            "type": Number(at_least=0),
            "default": 0.01,
            "help": "Metric only: how much longer than the shortest one an equivalent mapping may "
            "be. Noisy copies of a feature need more.",
        },
    ),
    "standardize": (
        ("--no-standardize", "standardize"),
        {
            "is_flag": True,
            "flag_value": False,
            "default": True,
            "show_default": False,
            "help": "Leave the features on the scale they have. For features that share one.",
        },
    ),
    "cutoff": (
        ("--cutoff",),
        {
            "type": Number(at_least=0, words=("probes",)),
            "default": "probes",
            "help": "What a bound must exceed to count; 'probes' learns it from shuffled columns. "
            "Of a metric: as a share of the norm, by default 0.05 or twice the slack.",
        },
    ),
    "n_probes": (
        ("--n-probes",),
        {"type": click.IntRange(min=1), "default": 50, "help": "Number of shuffled columns."},
    ),
    "fpr": (
        ("--fpr",),
        {
            "type": Number(above=0, below=1),
            "default": 1e-6,
            "help": "Nominal chance that an irrelevant feature exceeds the cutoff.",
        },
    ),
    "screen": (
        ("--screen",),
        {
            "type": NamedValue(auto="auto", yes=True, no=False),
            "default": "auto",
            "help": "Leave features with a bound that is proven but not tight, where that suffices "
            "to call them irrelevant; 'auto' does so with more than 10,000 features.",
        },
    ),
    "max_seconds": (
        ("--max-seconds",),
        {
            "type": Number(above=0),
            "default": None,
            "help": "Time for the bounds, once C and the cutoff are known. Features that are not "
            "reached keep a bound that is proven but not tight.",
        },
    ),
    "random_state": (
        ("--seed", "random_state"),
        {
            "type": click.IntRange(0, 2**32 - 1),
            "default": 0,
            "help": "Seed of all that is random: the same seed, the same report.",
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


ESTIMATOR_OPTIONS = tuple(_ESTIMATOR_OPTIONS)


def estimator_options(*tasks: str) -> Callable[[Command], Command]:
    """Give a command an option for each setting of the estimators of some tasks."""

    def decorate(command: Command) -> Command:
        for name, (names, attributes) in reversed(_ESTIMATOR_OPTIONS.items()):
            if set(tasks_of_option(name)) & set(tasks):
                shown = attributes["default"] is not None
                settings: dict[str, Any] = {"show_default": shown, **attributes}
                command = click.option(*names, **settings)(command)
        return command

    return decorate


def given_options() -> frozenset[str]:
    """Names of the options of the running command that its user has given."""
    context = click.get_current_context()
    default = ParameterSource.DEFAULT
    return frozenset(
        name for name in context.params if context.get_parameter_source(name) is not default
    )


def output_options(command: Command) -> Command:
    """Give a command the options that say where results go."""
    options = (
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="The page to write.  [default: report.html; none with --json]",
        ),
        click.option(
            "--json",
            "json_output",
            metavar="[FILE]",
            is_flag=False,
            flag_value="-",
            help="The result for machines. Without a file (or with -) it goes to standard output, "
            "and nothing else does. Give TABLE before it.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Print warnings and errors only."),
    )
    for option in reversed(options):
        command = option(command)
    return command


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
    "keep_fraction": (
        ("--keep-fraction",),
        {
            "type": Number(at_least=0, below=1),
            "default": 0.9,
            "help": "Saliency only: share of the features that goes on to the next round; 0 is a "
            "single round.",
        },
    ),
    "n_repeats": (
        ("--repeats", "n_repeats"),
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
    "min_features_to_select": (
        ("--min-features", "min_features_to_select"),
        {"type": click.IntRange(min=1), "default": 1, "help": "Where elimination ends."},
    ),
    "n_features_to_select": (
        ("--n-features", "n_features_to_select"),
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
    "nested_cv": (
        ("--nested-cv",),
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


target_option = click.option(
    "-t", "--target", metavar="COLUMN", required=True, help="Column to predict."
)


drop_option = click.option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Column to leave out, such as an id. May be given several times.",
)


separator_option = click.option(
    "--sep", metavar="TEXT", help="Separator of a text table, such as ';'."
)


quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print warnings and errors only.")


standardize_option = click.option(
    "--no-standardize",
    "standardize",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Leave the features on the scale they have. For features that share one.",
)


classes_or_number_option = click.option(
    "--task",
    type=click.Choice([AUTO, "classification", "regression"]),
    default=AUTO,
    show_default=True,
    help="What to predict: classes or a number. 'auto' goes by the target.",
)
