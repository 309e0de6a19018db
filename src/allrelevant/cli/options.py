"""Options that the commands share, and the values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from .tasks import tasks_of_option

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


class Choice(click.ParamType):  # type: ignore[type-arg]
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
    "delta": (
        ("--delta",),
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
            "type": Choice(auto="auto", yes=True, no=False),
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
