"""Options of the commands: flag, type, default and help of each, once.

The name of an option of an estimator is that of the constructor's parameter, and its default is
that of the constructor, by way of ``_params``. A new one is an entry here, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from .. import _params as params
from .estimators import LEARNERS, METHODS, MODELS, SVM, Options
from .types import Count, Dimension, Jobs, NamedValue, Number, Numbers, StepSize, SubsetSize

Command = TypeVar("Command", bound=Callable[..., Any])


class Option:
    """An option as click takes it; the help shows its default, if it has one."""

    def __init__(self, *names: str, **attributes: Any) -> None:
        self.names = names
        self.attributes = attributes

    def vary(self, **attributes: Any) -> Option:
        """The same option with other attributes, for another command."""
        return Option(*self.names, **{**self.attributes, **attributes})

    def add_to(self, command: Command) -> Command:
        """Give a command this option."""
        show_default = self.attributes.get("default") is not None
        return click.option(*self.names, **{"show_default": show_default, **self.attributes})(
            command
        )


# The table, and what its columns are for.
_TARGET = Option("-t", "--target", metavar="COLUMN", required=True, help="Column to predict.")
_DROP = Option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Column to leave out, such as an id. May be given several times.",
)
_SEPARATOR = Option("--sep", metavar="TEXT", help="Separator of a text table, such as ';'.")
_TASK = Option(
    "--task",
    type=click.Choice([params.AUTO, "classification", "regression"]),
    default=params.AUTO,
    help="What to predict: classes or a number. 'auto' goes by the target.",
)
_STANDARDIZE = Option(
    "--no-standardize",
    "standardize",
    is_flag=True,
    flag_value=False,
    default=True,
    show_default=False,
    help="Leave the features on the scale they have. For features that share one.",
)

# Where results go.
_OUTPUT = Option(
    "-o",
    "--output",
    metavar="FILE",
    help="The result as JSON; - is standard output, and nothing else goes there.",
)
_QUIET = Option("-q", "--quiet", is_flag=True, help="Print warnings and errors only.")
_PAGE_AND_JSON = (
    _OUTPUT.vary(help="The page to write.  [default: report.html; none with --json]"),
    Option(
        "--json",
        "json_output",
        metavar="[FILE]",
        is_flag=False,
        flag_value="-",
        help="The result for machines. Without a file (or with -) it goes to standard output, "
        "and nothing else does. Give TABLE before it.",
    ),
    _QUIET,
)

# How the work is done.
_SEED = Option(
    "--seed",
    "random_state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="Seed of all that is random.",
)
_JOBS = Option(
    "--jobs",
    "n_jobs",
    type=Jobs(),
    help="Workers side by side, -1 for all cores. The result is the same.  [default: 1]",
)

# Equivalent models.
_EQUIVALENCE = (
    Option(
        "--C",
        "C",
        type=Number(params.CV, above=0),
        default=params.CV,
        help="Weight of the loss against the norm; 'cv' chooses it by cross-validation.",
    ),
    Option(
        "--norm-slack",
        type=Number(at_least=0),
        default=params.NORM_SLACK,
        help="How much larger than the baseline's the norm of an equally good model may be.",
    ),
    Option(
        "--loss-slack",
        type=Number(at_least=0),
        default=params.LOSS_SLACK,
        help="How much larger than the baseline's its loss may be.",
    ),
    Option(
        "--loss-tol",
        type=Number(at_least=0),
        default=params.LOSS_TOL,
        help="How much more loss is allowed in any case, even where the baseline has none.",
    ),
    Option(
        "--formulation",
        type=click.Choice(get_args(params.FormulationName)),
        default=params.FORMULATION,
        help="Classification only: limit norm and loss each for itself, or their sum.",
    ),
    Option(
        "--class-weight",
        type=click.Choice(["balanced"]),
        help="Classification only: 'balanced' gives each class the same say, however rare.",
    ),
)

_OTHER_TASKS = (
    Option(
        "--epsilon",
        type=Number(params.CV, at_least=0),
        default=params.CV,
        help="Regression only: errors no larger than this cost nothing, in units of the "
        "target; 'cv' chooses it by cross-validation.",
    ),
    Option(
        "--learner",
        type=click.Choice(list(LEARNERS)),
        default="gmlvq",
        help="Metric only: prototypes of each class, or nearest neighbours.",
    ),
    Option(
        "--rank",
        type=click.IntRange(min=1),
        default=2,
        help="Metric only: number of directions that the metric measures.",
    ),
    Option(
        "--prototypes",
        "prototypes_per_class",
        type=click.IntRange(min=1),
        default=1,
        help="Metric only: prototypes of each class, for gmlvq.",
    ),
    Option(
        "--effective-dimension",
        type=Dimension(params.CV, "spectrum"),
        default=params.CV,
        help="Metric only: in how many directions of the data the mapping has to stay the "
        "same; 'cv' chooses by cross-validation, 'spectrum' takes 99% of the variance.",
    ),
    Option(
        "--slack",
        type=Number(at_least=0),
        default=params.MAPPING_SLACK,
        help="Metric only: how much longer than the shortest one an equivalent mapping may "
        "be. Noisy copies of a feature need more.",
    ),
)

_CALIBRATION = (
    _STANDARDIZE,
    Option(
        "--cutoff",
        type=Number(*get_args(params.CutoffName), at_least=0),
        help="What a bound must exceed to count; 'probes' learns it from shuffled columns. "
        "Of a metric: as a share of the norm, by default 0.05 or twice the slack.  "
        f"[default: {params.PROBES}]",
    ),
    Option(
        "--n-probes",
        type=click.IntRange(min=1),
        default=params.N_PROBES,
        help="Number of shuffled columns.",
    ),
    Option(
        "--fpr",
        type=Number(above=0, below=1),
        default=params.FPR,
        help="Nominal chance that an irrelevant feature exceeds the cutoff.",
    ),
    Option(
        "--screen",
        type=NamedValue(auto=params.AUTO, yes=True, no=False),
        default=params.AUTO,
        help="Leave features with a bound that is proven but not tight, where that suffices "
        "to call them irrelevant; 'auto' does so with more than 10,000 features.",
    ),
    Option(
        "--max-seconds",
        type=Number(above=0),
        help="Time for the bounds, once C and the cutoff are known. Features that are not "
        "reached keep a bound that is proven but not tight.",
    ),
    _SEED.vary(help="Seed of all that is random: the same seed, the same report."),
    _JOBS,
)

# The SVM or the network of ``select`` and ``explain``.
_MODEL = Option(
    "--model",
    type=click.Choice(MODELS),
    default=SVM,
    help="What is trained, an SVM or a network (needs torch).",
)
_KERNEL = Option(
    "--kernel",
    type=click.Choice(get_args(params.KernelName)),
    default=params.KERNEL,
    help="Kernel of the SVMs.",
)
_SVM_C = Option(
    "--C",
    "C",
    type=Numbers(above=0),
    default=params.SVM_C,
    help="Cost of errors; of several the best is chosen at each step. Saliency takes a "
    "single one; of a number to predict, errors are in standard deviations of the target.",
)
_GAMMA = Option(
    "--gamma",
    type=Number(params.AUTO, above=0),
    default=params.AUTO,
    help="Factor in the kernel; 'auto' is one over the number of features left.",
)
_CLASS_WEIGHT = Option(
    "--class-weight",
    type=click.Choice(get_args(params.ClassWeightName)),
    help="Make errors in rare classes cost more. Saliency takes 'balanced' alone.",
)

_SELECTION = (
    Option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="svmrfe",
        help="How to select.",
    ),
    Option(
        "--candidates",
        "n_candidates",
        type=Count(params.AUTO),
        default=params.N_CANDIDATES,
        help="ebrfe only: how many of the worst features compete at each step.",
    ),
    Option(
        "--rounds",
        "max_rounds",
        type=click.IntRange(min=1),
        default=params.MAX_ROUNDS,
        help="Flips only: how often to go on from the best neighbour.",
    ),
    _MODEL.vary(help="Saliency only: what is trained, an SVM or a network (needs torch)."),
    Option(
        "--keep-fraction",
        type=Number(at_least=0, below=1),
        default=params.KEEP_FRACTION,
        help="Saliency only: share of the features that goes on to the next round; 0 is a "
        "single round.",
    ),
    Option(
        "--repeats",
        "n_repeats",
        type=click.IntRange(min=1),
        default=1,
        help="Saliency only: trainings a round. One is enough for an SVM; 3 for a network.",
    ),
    _SEED.vary(help="Saliency only: seed of all that is random."),
    _KERNEL,
    _SVM_C,
    _GAMMA,
    Option(
        "--step",
        type=StepSize(above=0),
        default=params.STEP,
        help="How many features leave at a time; below 1, the share of those left.",
    ),
    Option(
        "--criterion",
        type=click.Choice(get_args(params.CriterionName)),
        default=params.CRITERION,
        help="What makes a feature matter: its weight, or what the cost loses without it.",
    ),
    _CLASS_WEIGHT,
    Option(
        "--min-variance",
        type=Number(at_least=0),
        default=params.MIN_VARIANCE,
        help="Leave out features that vary no more than this. (By default each varies by 1: "
        "see --no-standardize.)",
    ),
    Option(
        "--min-features",
        "min_features_to_select",
        type=click.IntRange(min=1),
        default=params.MIN_FEATURES_TO_SELECT,
        help="Where elimination ends.",
    ),
    Option(
        "--n-features",
        "n_features_to_select",
        type=SubsetSize(*get_args(params.SubsetRule)),
        show_default=f"{params.SUBSET_RULE}; with saliency half of the features",
        help="Which subset: the best, the smallest within one standard error of it, or that "
        "of N features. Saliency has no scores: it takes N, or a share such as 0.25.",
    ),
    Option(
        "--folds",
        "cv",
        type=click.IntRange(min=2),
        default=params.CV_FOLDS,
        help="Folds of the cross-validation.",
    ),
    Option(
        "--scoring",
        metavar="NAME",
        help="A scorer of scikit-learn, such as balanced_accuracy or roc_auc.  [default: accuracy]",
    ),
    Option(
        "--nested-cv",
        is_flag=True,
        help="Do the whole selection inside outer folds, too: an honest score.",
    ),
    Option(
        "--checkpoint",
        metavar="FILE",
        help="Written after every step; the same command goes on from there.",
    ),
    _JOBS,
)

# One model is trained, without choices; a linear SVM would say the same of every row.
_EXPLAINED_MODEL = (
    _MODEL,
    _KERNEL.vary(default="rbf", help="Kernel of the SVM."),
    _SVM_C.vary(
        type=Number(above=0),
        help="Cost of errors in the SVM; of a number to predict, errors are in standard "
        "deviations of the target.",
    ),
    _GAMMA.vary(help="Factor in the kernel; 'auto' is one over the number of features."),
    _CLASS_WEIGHT.vary(
        type=click.Choice(["balanced"]), help="Make errors in rare classes cost more."
    ),
    _SEED,
)

# By command, in the order of its help.
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "report": (
        _TARGET,
        _DROP,
        Option(
            "--method",
            type=click.Choice(["linear", params.METRIC]),
            default="linear",
            help="Whose bounds: those of linear models, or those of a metric that is learned to "
            "tell classes apart by distances.",
        ),
        _TASK.vary(
            type=click.Choice([params.AUTO, *params.LINEAR_TASKS]),
            help="What to predict: classes, a number, classes in an order, or which rows rank "
            "above others. 'auto' goes by the target.",
        ),
        Option(
            "--privileged",
            metavar="COLUMN",
            multiple=True,
            help="Column that is known of these rows only, not of rows to come. It takes no part "
            "in predictions; it explains how far each row may be missed. May be given several "
            "times.",
        ),
        Option(
            "--path",
            type=click.Choice(get_args(params.PathParameter)),
            help="Show on the page, too, how everything changes with this setting: 20 values of "
            "it.",
        ),
        Option(
            "--relations",
            is_flag=True,
            help="Show on the page, too, which features replace which, and the groups they form.",
        ),
        Option(
            "--costs",
            metavar="FILE",
            help="Show on the page, too, the five cheapest sets of features that suffice. FILE is "
            "a table with the columns 'feature' and 'cost'. The search takes a minute at most.",
        ),
        _SEPARATOR,
        *_PAGE_AND_JSON,
        *_EQUIVALENCE,
        *_OTHER_TASKS,
        *_CALIBRATION,
    ),
    "demo": (*_PAGE_AND_JSON, *_EQUIVALENCE, *_CALIBRATION),
    "select": (
        _TARGET,
        _DROP,
        _TASK,
        Option(
            "--groups",
            metavar="COLUMN",
            help="Column whose equal values stay on one side of every fold, such as a patient. It "
            "is no feature.",
        ),
        _SEPARATOR,
        _OUTPUT.vary(default="selection.json"),
        _QUIET,
        _STANDARDIZE,
        *_SELECTION,
    ),
    "explain": (
        _TARGET,
        Option(
            "--row",
            "rows",
            type=click.IntRange(min=1),
            multiple=True,
            required=True,
            help="Number of the row, 1 for the first below the names. May be given several times.",
        ),
        _DROP,
        _TASK,
        Option(
            "--class",
            "towards",
            metavar="LABEL",
            help="What speaks for this class.  [default: for the true one]",
        ),
        _SEPARATOR,
        _OUTPUT,
        _QUIET,
        _STANDARDIZE,
        *_EXPLAINED_MODEL,
    ),
}


def options_of(name: str) -> Callable[[Command], Command]:
    """Give a command its options."""

    def decorate(command: Command) -> Command:
        for option in reversed(OPTIONS[name]):
            command = option.add_to(command)
        return command

    return decorate


def estimator_options(values: Mapping[str, Any], **more: Any) -> Options:
    """The options of the running command that are for an estimator, and more values for it."""
    context = click.get_current_context()
    flags = {option.name: max(option.opts, key=len) for option in context.command.params}
    default = ParameterSource.DEFAULT
    given = [name for name in values if context.get_parameter_source(name) is not default]
    return Options({**values, **more}, {name: flags[name] for name in given})
