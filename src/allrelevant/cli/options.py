"""Command-line options, each with its flag, type, default and help text.

An option of an estimator has the same name as the constructor parameter. Both take their default
from ``_params``. To add an option, add an entry here; nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from .. import _params as params
from ..tables.writing import FORMATS as WRITABLE
from .estimators import LEARNERS, METHODS, MODELS, SVM, Options
from .types import (
    Count,
    Dimension,
    Jobs,
    NamedValue,
    Number,
    NumberList,
    Numbers,
    StepSize,
    SubsetSize,
    Words,
)

Command = TypeVar("Command", bound=Callable[..., Any])


class Option:
    """A click option whose help text shows its default, if any."""

    def __init__(self, *names: str, **attributes: Any) -> None:
        self.names = names
        self.attributes = attributes

    def vary(self, **attributes: Any) -> Option:
        """Return a copy of the option with changed attributes, for use in a different command."""
        return Option(*self.names, **{**self.attributes, **attributes})

    def add_to(self, command: Command) -> Command:
        """Add this option to a command."""
        show_default = self.attributes.get("default") is not None
        return click.option(*self.names, **{"show_default": show_default, **self.attributes})(
            command
        )


# The table and the roles of its columns.
_TARGET = Option("-t", "--target", metavar="COLUMN", required=True, help="Column to predict.")
_DROP = Option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Column to ignore, such as an ID. May be given several times.",
)
_CATEGORICAL = Option(
    "--categorical",
    metavar="COLUMN",
    multiple=True,
    help="Column of numbers that are codes of categories, such as the number of a site. May be "
    "given several times.",
)
_DATES = Option(
    "--dates",
    type=click.Choice(["days"]),
    help="Convert dates to days since the first date of their column. Without this option, columns "
    "of dates must be dropped.",
)
_GROUPS = Option(
    "--groups",
    metavar="COLUMN",
    help="Column of group labels, such as patient IDs. All rows of a group are in the same "
    "fold. The column is not used as a feature.",
)
_WEIGHTS = Option(
    "--weights",
    metavar="COLUMN",
    help="Column of sample weights. It is not used as a feature.",
)
_FORMAT = (
    Option(
        "--sep",
        metavar="TEXT",
        help="Column separator of a text file, such as ';'.  [default: inferred]",
    ),
    Option("--sheet", metavar="NAME", help="Sheet of an Excel file.  [default: the first]"),
    Option(
        "--max-rows",
        type=click.IntRange(min=1),
        default=params.MAX_ROWS,
        help="Largest number of rows to read. Larger tables are refused.",
    ),
    Option(
        "--max-columns",
        type=click.IntRange(min=1),
        default=params.MAX_COLUMNS,
        help="Largest number of columns to read.",
    ),
    Option(
        "--max-gb",
        "max_gigabytes",
        type=Number(above=0),
        default=params.MAX_GIGABYTES,
        help="Largest size of the table in gigabytes, both of the decompressed file and in memory "
        "(8 bytes per value).",
    ),
)
_TASK = Option(
    "--task",
    type=click.Choice([params.AUTO, "classification", "regression"]),
    default=params.AUTO,
    help="Task: predict classes or numbers. 'auto' infers it from the target.",
)
_STANDARDIZE = Option(
    "--no-standardize",
    "standardize",
    is_flag=True,
    flag_value=False,
    default=True,
    show_default=False,
    help="Do not standardize. Use only if all features are on the same scale.",
)

# Output. Every command writes an HTML report by default.
REPORT_PAGE, SELECTION_PAGE, EXPLANATION_PAGE = "report.html", "selection.html", "explanation.html"
_QUIET = Option("-q", "--quiet", is_flag=True, help="Print only warnings and errors.")
_JSON = Option(
    "--json",
    "json_output",
    metavar="[FILE]",
    is_flag=False,
    flag_value="-",
    help="Write the result as JSON. Without FILE (or if FILE is -), write only the JSON to "
    "standard output; put this option last in this case.",
)
_TABLE = Option(
    "--table",
    "table_output",
    metavar="FILE",
    help=f"Also write the results per feature as a table ({WRITABLE}).",
)


def _output(default: str) -> tuple[Option, ...]:
    """Return the output options of a command; ``default`` is the name of its HTML report."""
    page = Option(
        "-o",
        "--output",
        metavar="FILE",
        help=f"HTML report to write.  [default: {default}; with --json, none]",
    )
    return page, _JSON, _TABLE, _QUIET


# Seed and parallel execution.
_SEED = Option(
    "--seed",
    "random_state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="Random seed.",
)
_JOBS = Option(
    "--jobs",
    "n_jobs",
    type=Jobs(),
    help="Number of worker processes (-1: all cores). Does not change the result.  [default: 1]",
)

_CLUSTER = Option(
    "--cluster",
    metavar="PLACE",
    help="Run on a Dask cluster instead of --jobs processes. PLACE is the address of the scheduler "
    "(tcp:// or tls://), a scheduler file, or 'local' for a new cluster of --jobs processes. Does "
    "not change the result.",
)

# Cross-validation.
_CV = Option(
    "--cv",
    "--folds",
    "cv",
    type=click.IntRange(2, params.MAX_REPEATS),
    default=params.CV_FOLDS,
    help="Number of cross-validation folds.",
)
_SCORING = Option("--scoring", metavar="NAME")

# Equivalent models.
_EQUIVALENCE = (
    Option(
        "--C",
        "C",
        type=Number(params.CV, above=0, at_most=params.MAX_NUMBER),
        default=params.CV,
        help="Weight of the loss relative to the norm; 'cv' chooses it by cross-validation.",
    ),
    Option(
        "--Cs",
        "Cs",
        type=NumberList(above=0, at_most=params.MAX_NUMBER),
        help="Values of C that cross-validation compares, separated by commas.  [default: eight "
        "values that suit the number of rows]",
    ),
    _CV.vary(
        default=None,
        help="Number of cross-validation folds.  [default: 5]",
    ),
    _SCORING.vary(
        help="Name of a scikit-learn scorer by which C is chosen, such as balanced_accuracy or "
        "r2.  [default: the score in the report; for ranking and survival, the loss]",
    ),
    Option(
        "--norm-slack",
        type=Number(at_least=0, at_most=params.MAX_SLACK),
        default=params.NORM_SLACK,
        help="Relative slack of the norm. Equivalent models may exceed the baseline's norm by this "
        "fraction.",
    ),
    Option(
        "--loss-slack",
        type=Number(at_least=0, at_most=params.MAX_SLACK),
        default=params.LOSS_SLACK,
        help="Relative slack of the loss. Equivalent models may exceed the baseline's loss by this "
        "fraction.",
    ),
    Option(
        "--loss-tol",
        type=Number(at_least=0, at_most=params.MAX_NUMBER),
        default=params.LOSS_TOL,
        help="Absolute slack of the loss, added to the relative slack.",
    ),
    Option(
        "--curves",
        type=click.IntRange(min=2, max=30),
        help="Cut each number into this many bins at its quantiles, to find nonlinear relations.",
    ),
    Option(
        "--formulation",
        type=click.Choice(get_args(params.FormulationName)),
        default=params.FORMULATION,
        help="Classification only: limit norm and loss separately, or limit their weighted sum.",
    ),
    Option(
        "--class-weight",
        type=click.Choice(["balanced"]),
        help="Classification only: 'balanced' gives all classes the same total weight.",
    ),
)

_OTHER_TASKS = (
    Option(
        "--epsilon",
        type=Number(params.CV, at_least=0, at_most=params.MAX_NUMBER),
        default=params.CV,
        help="Regression only: errors up to this value (in units of the target) incur no loss; "
        "'cv' chooses it by cross-validation.",
    ),
    Option(
        "--learner",
        type=click.Choice(list(LEARNERS)),
        default="gmlvq",
        help="Metric only: learn the metric from prototypes (gmlvq) or nearest neighbors (lmnn).",
    ),
    Option(
        "--rank",
        type=click.IntRange(1, params.MAX_COUNT),
        default=2,
        help="Metric only: rank of the metric, that is, the number of components of the mapping.",
    ),
    Option(
        "--prototypes",
        "prototypes_per_class",
        type=click.IntRange(1, params.MAX_COUNT),
        default=1,
        help="gmlvq only: number of prototypes per class.",
    ),
    Option(
        "--effective-dimension",
        type=Dimension(params.CV, "spectrum"),
        default=params.CV,
        help="Metric only: number of principal directions in which equivalent mappings must "
        "agree. 'cv' chooses it by cross-validation; 'spectrum' covers 99% of the variance.",
    ),
    Option(
        "--slack",
        type=Number(at_least=0, at_most=params.MAX_SLACK),
        default=params.MAPPING_SLACK,
        help="Metric only: fraction by which the norm of an equivalent mapping may exceed the "
        "smallest norm. Increase it if some features are noisy copies of others.",
    ),
)

_CUTOFF_HELP = (
    "Rule for relevance. 'fdr' tests each feature and controls the false discovery rate. 'probes' "
    "compares the bounds of each feature with cutoffs estimated from permuted columns. A number is "
    "the cutoff that a bound must exceed."
)
_CUTOFF = Option(
    "--cutoff",
    type=Number(*get_args(params.CutoffName), at_least=0, at_most=params.MAX_NUMBER),
    help=f"{_CUTOFF_HELP}  [default: {params.CUTOFF}]",
)
_CALIBRATION = (
    Option(
        "--fdr",
        type=Number(at_least=params.MIN_FDR, below=1),
        default=params.FDR_LEVEL,
        help="False discovery rate: largest expected fraction of irrelevant features among those "
        "called relevant.",
    ),
    Option(
        "--n-probes",
        type=click.IntRange(1, params.MAX_REPEATS),
        default=params.N_PROBES,
        help="Number of permuted columns (probes) used to estimate the cutoffs. Used with --cutoff "
        "probes, and if there are more features than rows.",
    ),
    Option(
        "--fpr",
        type=Number(at_least=params.MIN_NUMBER, below=1),
        default=params.FPR,
        help="Nominal probability that an irrelevant feature exceeds the cutoffs from probes.",
    ),
    Option(
        "--tol",
        type=Number(above=0, below=1),
        default=params.TOL,
        help="Largest gap between a bound and its certificate, as a fraction of the norm. It "
        "matters for tables with thousands of rows. Relevance classes do not depend on it.",
    ),
    Option(
        "--screen",
        type=NamedValue(auto=params.AUTO, yes=True, no=False),
        default=params.AUTO,
        help="Skip the exact bounds of a feature if a certified bound already shows that it is "
        "irrelevant. 'auto' enables this for more than 2,000 features.",
    ),
    Option(
        "--max-seconds",
        type=Number(above=0),
        help="Time limit in seconds for all steps. The report states what was not reached. "
        "Features not reached in time have certified bounds that may not be tight.",
    ),
    _SEED.vary(help="Random seed. The same seed gives the same report."),
    _JOBS,
    _CLUSTER,
)

# The SVM or the network of ``select`` and ``explain``.
_MODEL = Option(
    "--model",
    type=click.Choice(MODELS),
    default=SVM,
    help="Model to train: an SVM or a neural network (requires torch).",
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
    type=Numbers(above=0, at_most=params.MAX_NUMBER),
    default=params.SVM_C,
    help="Cost of errors. If several values are given, the best is chosen at each step. Saliency "
    "requires a single value. For regression, errors are in standard deviations of the target.",
)
_GAMMA = Option(
    "--gamma",
    type=Number(params.AUTO, above=0, at_most=params.MAX_NUMBER),
    default=params.AUTO,
    help="Kernel coefficient; 'auto' is one over the number of remaining features.",
)
_CLASS_WEIGHT = Option(
    "--class-weight",
    type=NamedValue(**{name: name for name in get_args(params.ClassWeightName)}, none={}),
    default=params.BALANCED,
    help="Per-class multiplier of C, larger for rare classes. 'balanced' gives all classes the "
    "same total weight. 'cw2' is one over the number of rows of the class; 'cw3' is 'cw2' plus the "
    "number of classes. Saliency accepts only 'balanced' and 'none'.",
)

_N_FEATURES = Option(
    "--n-features",
    "n_features_to_select",
    type=SubsetSize(*get_args(params.SubsetRule)),
    show_default=params.SUBSET_RULE,
    help="Number of features, or a rule. 'best': the best score. 'smallest_best': the smallest "
    "subset with the best score. 'one_se': the smallest subset within one standard error of the "
    "best. Saliency also accepts a fraction such as 0.25.",
)

_SELECTION = (
    Option(
        "--method",
        type=click.Choice(list(METHODS)),
        help="Selection method.  [default: svmrfe; saliency if the target is numeric]",
    ),
    Option(
        "--candidates",
        "n_candidates",
        type=Count(params.AUTO),
        default=params.N_CANDIDATES,
        help="ebrfe only: number of lowest-ranked features to compare at each step. 'auto' "
        "compares up to 12 features whose weights are close to the smallest.",
    ),
    Option(
        "--rounds",
        "max_rounds",
        type=click.IntRange(1, params.MAX_COUNT),
        default=params.MAX_ROUNDS,
        help="bitflip and attributeflip only: maximum number of local search rounds.",
    ),
    _MODEL.vary(
        help="Saliency only: model to train, either an SVM or a neural network (requires torch)."
    ),
    Option(
        "--keep-fraction",
        type=Number(at_least=0, below=1),
        default=params.KEEP_FRACTION,
        help="Saliency only: fraction of the features kept in each round; 0 means a single round.",
    ),
    Option(
        "--repeats",
        "n_repeats",
        type=Count(params.AUTO, largest=params.MAX_REPEATS),
        default=params.AUTO,
        help="Saliency only: number of models trained per round. 'auto' means 1 for an SVM and 3 "
        "for a network.",
    ),
    _SEED.vary(help="Random seed. The same seed gives the same folds and the same result."),
    _KERNEL,
    _SVM_C,
    _GAMMA,
    Option(
        "--step",
        type=StepSize(params.AUTO, above=0),
        default=params.STEP,
        help="Number of features to remove per step. A value below 1 is a fraction of the "
        "remaining features. 'auto' removes a tenth of them while more than 200 remain, and then "
        "one feature per step.",
    ),
    Option(
        "--criterion",
        type=click.Choice(get_args(params.CriterionName)),
        default=params.CRITERION,
        help="Ranking criterion: the squared weight of a feature, or the change in the SVM "
        "objective (margin) when the feature is removed.",
    ),
    _CLASS_WEIGHT,
    Option(
        "--min-variance",
        type=Number(at_least=0),
        default=params.MIN_VARIANCE,
        help="Remove features whose variance, before standardization, does not exceed this value.",
    ),
    Option(
        "--min-features",
        "min_features_to_select",
        type=click.IntRange(1, params.MAX_COUNT),
        default=params.MIN_FEATURES_TO_SELECT,
        help="Number of features at which elimination stops.",
    ),
    _CV,
    _SCORING.vary(
        help="Name of a scikit-learn scorer, such as accuracy or roc_auc.  [default: "
        "balanced_accuracy; for numbers, r2]",
    ),
    Option(
        "--score/--no-score",
        default=True,
        help="Estimate the score on new rows. --no-score is faster and requires --n-features N.",
    ),
    Option(
        "--rank-once",
        "repeat_in_folds",
        is_flag=True,
        flag_value=False,
        default=True,
        show_default=False,
        help="Rank the features once, on all rows. This is faster, but the scores are optimistic.",
    ),
    Option(
        "--nested-cv",
        is_flag=True,
        help="Estimate the score on new rows by repeating the whole selection in each outer fold. "
        "By default, only the ranking is repeated in each fold, and the number of features is "
        "chosen on the other folds.",
    ),
    Option(
        "--checkpoint",
        metavar="FILE",
        help="Save progress to FILE during the run. To resume, repeat the command.",
    ),
    _JOBS,
    _CLUSTER,
)

# A single model is trained. A linear SVM would give the same explanation for every row.
_EXPLAINED_MODEL = (
    _MODEL,
    _KERNEL.vary(default="rbf", help="Kernel of the SVM."),
    _SVM_C.vary(
        type=Number(above=0, at_most=params.MAX_NUMBER),
        help="Cost of errors in the SVM. For regression, errors are in standard deviations of the "
        "target.",
    ),
    _GAMMA.vary(help="Kernel coefficient; 'auto' is one over the number of features."),
    _CLASS_WEIGHT.vary(
        type=click.Choice(["balanced"]),
        default=None,
        help="Increase the cost of errors in rare classes, so that all classes have the same "
        "total weight.",
    ),
    _SEED,
)

_PROOF = Option(
    "--proof",
    "proof_output",
    metavar="FILE",
    help="Also write a proof of the bounds (JSON), which 'allrelevant verify' checks against the "
    "table in exact arithmetic.",
)

_RELATIONS = Option(
    "--relations/--no-relations",
    default=None,
    help="Also report which features can replace each other, and the groups they form.  [default: "
    "only if this is fast]",
)

_SMALL_SET = Option(
    "--small-set/--no-small-set",
    default=None,
    help="Also report the smallest set of features that suffices for an equivalent model.  "
    "[default: only if this is fast]",
)

# Options of each command, in the order of its help.
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "report": (
        _TARGET,
        _DROP,
        _CATEGORICAL,
        _DATES,
        Option(
            "--method",
            type=click.Choice(["linear", params.METRIC]),
            default="linear",
            help="Compute bounds for linear models, or for a learned metric whose distances "
            "separate the classes.",
        ),
        _TASK.vary(
            type=click.Choice([params.AUTO, *params.LINEAR_TASKS]),
            help="Task: predict classes, numbers or ordered classes, rank rows of one class above "
            "rows of the other, or rank rows by their survival times. 'auto' infers classification "
            "or regression from the target.",
        ),
        Option(
            "--event",
            metavar="COLUMN",
            help="Column that is 1 (or true, yes) for rows with an event and 0 (or false, no) for "
            "censored rows. The target is the time; implies --task survival.",
        ),
        Option(
            "--privileged",
            metavar="COLUMN",
            multiple=True,
            help="Column that is available only for training, not for prediction, such as a later "
            "diagnosis. It is used to model the loss of each training row. May be given several "
            "times.",
        ),
        _GROUPS,
        _WEIGHTS,
        Option(
            "--order",
            "classes",
            type=Words(),
            help="Ordinal task only: the classes from low to high, separated by commas, if they "
            "are words.",
        ),
        Option(
            "--path",
            type=click.Choice(get_args(params.PathParameter)),
            help="Also report how the bounds change over 20 values of this parameter.",
        ),
        _RELATIONS,
        _SMALL_SET,
        Option(
            "--costs",
            metavar="FILE",
            help="Also report the five cheapest sufficient feature sets. FILE is a table with the "
            "columns 'feature' and 'cost'. The search stops after one minute.",
        ),
        *_FORMAT,
        *_output(REPORT_PAGE),
        _PROOF,
        *_EQUIVALENCE,
        *_OTHER_TASKS,
        _STANDARDIZE,
        _CUTOFF.vary(
            help=f"{_CUTOFF_HELP} With --method metric, the cutoff is a fraction of the norm "
            f"(default: the larger of 0.05 and twice the slack).  [default: {params.CUTOFF}]"
        ),
        *_CALIBRATION,
    ),
    "verify": (
        *_FORMAT,
        _QUIET.vary(help="Print only failures and errors."),
    ),
    "demo": (
        _RELATIONS,
        _SMALL_SET,
        *_output(REPORT_PAGE),
        *_EQUIVALENCE,
        _STANDARDIZE,
        _CUTOFF,
        *_CALIBRATION,
    ),
    "select": (
        _TARGET,
        _N_FEATURES,
        _DROP,
        _CATEGORICAL,
        _DATES,
        _TASK,
        _GROUPS,
        _WEIGHTS,
        Option(
            "--bounds/--no-bounds",
            default=None,
            help="Also compute relevance bounds. They show which selected features can be "
            "replaced, and by which features. They also give the smallest set that suffices for an "
            "equivalent linear model.  [default: only if this is fast]",
        ),
        *_FORMAT,
        *_output(SELECTION_PAGE),
        _STANDARDIZE,
        *_SELECTION,
    ),
    "explain": (
        _TARGET,
        Option(
            "--row",
            "rows",
            type=click.IntRange(1, params.MAX_COUNT),
            multiple=True,
            required=True,
            help="Number of the row, starting at 1 for the first row of data. May be given several "
            "times.",
        ),
        _DROP,
        _CATEGORICAL,
        _DATES,
        _TASK,
        _GROUPS.vary(
            help="Column of group labels, such as patient IDs. Rows of the same group as an "
            "explained row are not used for training, and all rows of a group are in the same "
            "fold. The column is not used as a feature."
        ),
        _WEIGHTS,
        Option(
            "--class",
            "towards",
            metavar="LABEL",
            help="Class to explain.  [default: the predicted class of the row]",
        ),
        Option(
            "--raw",
            is_flag=True,
            help="Show raw gradients (of the gain function, see docs/saliency.md) instead of "
            "percentages.",
        ),
        *_FORMAT,
        *_output(EXPLANATION_PAGE),
        _STANDARDIZE,
        *_EXPLAINED_MODEL,
    ),
}


def add_options(name: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of a command."""

    def decorate(command: Command) -> Command:
        for option in reversed(OPTIONS[name]):
            command = option.add_to(command)
        return command

    return decorate


def estimator_options(values: Mapping[str, Any], **extra: Any) -> Options:
    """Return the estimator options of the running command, with extra values added."""
    context = click.get_current_context()
    flags = {option.name: max(option.opts, key=len) for option in context.command.params}
    default = ParameterSource.DEFAULT
    set_by_user = [name for name in values if context.get_parameter_source(name) is not default]
    return Options({**values, **extra}, {name: flags[name] for name in set_by_user})
