"""Failures as one line each: what is wrong with the input, not where in the program it showed.

The commands themselves: what they are called, what they take and what they teach.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

from .._params import AUTO
from ..exceptions import AllRelevantError
from .estimators import BOUNDS_METHODS, LINEAR, METRIC, TASKS
from .options import (
    classes_or_number_option,
    drop_option,
    estimator_options,
    explanation_options,
    given_options,
    output_options,
    quiet_option,
    selection_options,
    separator_option,
    standardize_option,
    target_option,
)

INPUT_ERROR = 2


INTERRUPTED = 130


class CommandGroup(click.Group):
    """A group of commands that ends on bad input with a single line and exit code 2.

    Only errors raised on purpose are caught: a bug still shows its traceback.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave the process with an exit code (click calls this standalone mode)."""
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        extra.setdefault("obj", shlex.join(["allrelevant", *args]))
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.UsageError as error:
            _fail(f"{error.format_message()} {_where_to_look(error.ctx)}")
        except click.ClickException as error:
            _fail(error.format_message())
        except AllRelevantError as error:
            _fail(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)


def _where_to_look(context: click.Context | None) -> str:
    return f"(See {context.command_path} --help.)" if context else ""


def _fail(message: str) -> NoReturn:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(INPUT_ERROR)


_CLASSES = """\b
Each feature falls into one of three classes:
  strong      every equally good model needs it
  weak        some use it, others do without: other features can stand in
  irrelevant  none gives it more weight than noise would get
"""


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from .._version import __version__

        click.echo(f"allrelevant {__version__}")
        ctx.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=f"""Which features of a table matter, and the proof.

Of all linear models that predict a target equally well, how small and how large can the weight of
each feature be?

{_CLASSES}
\b
Examples:
  allrelevant demo
  allrelevant report patients.csv --target diagnosis --drop id -o report.html
  allrelevant report patients.parquet --target diagnosis --json > result.json
  allrelevant select patients.csv --target diagnosis --method ebrfe -o selection.json
  allrelevant explain patients.csv --target diagnosis --row 17
""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Hold the commands together."""


@cli.command(
    help=f"""Analyse TABLE and write a report that opens in any browser.

TABLE is a .csv, .tsv or .parquet file, text also compressed (.csv.gz, .bz2, .xz, .zip, .zst),
with a line of names on top. One column is the target: the class of each row, or a number. All
others are features and must be numbers, none missing.

{_CLASSES}
\b
What --task auto makes of the target, and says so:
  words, true and false                           classification
  numbers with a fractional part                  regression
  whole numbers, more than 20 different ones,
    or a different one in most rows               regression
  whole numbers otherwise                         classification

For classes in an order, such as grades as numbers, there is --task ordinal; to rank one of two
classes above the other, however rare it is, --task ranking.

\b
Examples:
  allrelevant report patients.csv --target diagnosis
  allrelevant report patients.csv.gz --target diagnosis --drop id --drop name -o out.html
  allrelevant report patients.csv --target diagnosis --jobs -1 --json result.json
  allrelevant report houses.csv --target price --task regression
  allrelevant report patients.csv --target relapse --privileged biopsy
  allrelevant report patients.csv --target diagnosis --path C
  allrelevant report spectra.csv --target quality --method metric --rank 2
  allrelevant report patients.csv --target diagnosis --relations --costs costs.csv

On bad input the command says why in one line, ends with exit code 2, and leaves an earlier report
as it was.
"""
)
@click.argument("table")
@target_option
@drop_option
@click.option(
    "--method",
    type=click.Choice(BOUNDS_METHODS),
    default=LINEAR,
    show_default=True,
    help="Whose bounds: those of linear models, or those of a metric that is learned to tell "
    "classes apart by distances.",
)
@click.option(
    "--task",
    type=click.Choice([AUTO, *TASKS]),
    default=AUTO,
    show_default=True,
    help="What to predict: classes, a number, classes in an order, or which rows rank above "
    "others. 'auto' goes by the target.",
)
@click.option(
    "--privileged",
    metavar="COLUMN",
    multiple=True,
    help="Column that is known of these rows only, not of rows to come. It takes no part in "
    "predictions; it explains how far each row may be missed. May be given several times.",
)
@click.option(
    "--path",
    type=click.Choice(["C", "norm_slack"]),
    help="Show on the page, too, how everything changes with this setting: 20 values of it.",
)
@click.option(
    "--relations",
    is_flag=True,
    help="Show on the page, too, which features replace which, and the groups they form.",
)
@click.option(
    "--costs",
    metavar="FILE",
    help="Show on the page, too, the five cheapest sets of features that suffice. FILE is a table "
    "with the columns 'feature' and 'cost'. The search takes a minute at most.",
)
@separator_option
@output_options
@estimator_options(*TASKS, METRIC)
@click.pass_obj
def report(
    command: str,
    /,
    table: str,
    target: str,
    drop: tuple[str, ...],
    method: str,
    task: str,
    privileged: tuple[str, ...],
    path: Literal["C", "norm_slack"] | None,
    relations: bool,
    costs: str | None,
    sep: str | None,
    output: str | None,
    json_output: str | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Analyse a table from a file."""
    from .output import plan_outputs

    outputs = plan_outputs(output, json_output, quiet=quiet, table=table)
    from ..tables import read_table
    from ..tables.features import read_costs_of
    from .estimators import task_of
    from .report import ColumnRoles, OptionalParts, analyse, collected_notes

    with collected_notes() as notes:
        analyse(
            read_table(table, separator=sep),
            ColumnRoles(target, drop, privileged),
            task=task_of(
                method, task, privileged=privileged, path=path, relations=relations, costs=costs
            ),
            settings=settings,
            given=given_options(),
            path=path,
            questions=OptionalParts(relations, None if costs is None else read_costs_of(costs)),
            outputs=outputs,
            table=Path(table).name,
            command=command,
            notes=notes,
        )


@cli.command(
    help="""Select features of TABLE by backward elimination, or by saliency.

TABLE is read as by "allrelevant report". The target must be classes, but for saliency, which takes
a number, too. Columns are brought to mean 0 and variance 1 first, and so is a target that is a
number.

\b
Methods:
  svmrfe         the feature of the smallest weight leaves, again and again
  ebrfe          the worst few compete, and cross-validation decides which one leaves
  bitflip        svmrfe, then one feature more or less if that is better
  attributeflip  svmrfe, then one feature for another if that is better
  saliency       features on which the right answers of a model hang least leave, round by round

\b
Examples:
  allrelevant select patients.csv --target diagnosis
  allrelevant select genes.csv --target y --method ebrfe --candidates 5 --checkpoint run.ckpt
  allrelevant select genes.csv --target y --step 0.1 --n-features one_se --nested-cv -o result.json
  allrelevant select genes.csv --target y --method saliency --kernel rbf --n-features 20
  allrelevant select houses.csv --target price --method saliency --n-features 0.25

Interrupted, the same command with the same --checkpoint goes on where it was.
"""
)
@click.argument("table")
@target_option
@drop_option
@classes_or_number_option
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Column whose equal values stay on one side of every fold, such as a patient. It is no "
    "feature.",
)
@separator_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="selection.json",
    show_default=True,
    help="The result as JSON; - is standard output, and nothing else goes there.",
)
@quiet_option
@standardize_option
@selection_options
@click.pass_obj
def select(
    command: str,
    /,
    table: str,
    target: str,
    drop: tuple[str, ...],
    task: str,
    groups: str | None,
    sep: str | None,
    output: str,
    quiet: bool,
    standardize: bool,
    method: str,
    **settings: Any,
) -> None:
    """Select features of a table from a file."""
    from .output import plan_outputs

    outputs = plan_outputs(None, output, quiet=quiet, table=table)
    from ..tables import read_table
    from .report import collected_notes
    from .select import select_features

    with collected_notes() as notes:
        select_features(
            read_table(table, separator=sep),
            target=target,
            drop=drop,
            groups=groups,
            method=method,
            task=task,
            standardize=standardize,
            settings=settings,
            given=given_options(),
            outputs=outputs,
            table=Path(table).name,
            command=command,
            notes=notes,
        )


@cli.command(
    help="""Show which features decide in one row of TABLE.

A model is trained on all other rows. The saliency of a feature is the gradient of a gain, high
where the prediction is right: with signs, positive where a larger value would speak more for the
class. A row that the model gets wrong shows close to nothing, and that is said.

TABLE is read as by "allrelevant report". Columns are brought to mean 0 and variance 1 first, so
that saliency is per standard deviation, and so is a target that is a number: its unit does not
matter. How good the model is, is measured on the other rows in 5 folds.

\b
Examples:
  allrelevant explain patients.csv --target diagnosis --row 17
  allrelevant explain patients.csv --target diagnosis --row 17 --class healthy
  allrelevant explain houses.csv --target price --row 3 --row 8 -o explained.json
"""
)
@click.argument("table")
@target_option
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=1),
    multiple=True,
    required=True,
    help="Number of the row, 1 for the first below the names. May be given several times.",
)
@drop_option
@classes_or_number_option
@click.option(
    "--class",
    "towards",
    metavar="LABEL",
    help="What speaks for this class.  [default: for the true one]",
)
@separator_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The result as JSON; - is standard output, and nothing else goes there.",
)
@quiet_option
@standardize_option
@explanation_options
@click.pass_obj
def explain(
    command: str,
    /,
    table: str,
    target: str,
    rows: tuple[int, ...],
    drop: tuple[str, ...],
    task: str,
    towards: str | None,
    sep: str | None,
    output: str | None,
    quiet: bool,
    standardize: bool,
    **settings: Any,
) -> None:
    """Explain rows of a table from a file."""
    from .output import plan_json

    outputs = plan_json(output, quiet=quiet, table=table)
    from ..tables import read_table
    from .explain import explain_rows
    from .report import collected_notes

    with collected_notes() as notes:
        explain_rows(
            read_table(table, separator=sep),
            rows,
            target=target,
            drop=drop,
            task=task,
            towards=towards,
            standardize=standardize,
            settings=settings,
            given=given_options(),
            outputs=outputs,
            table=Path(table).name,
            command=command,
            notes=notes,
        )


@cli.command(
    help="""The same on a table that is at hand: breast cancer in Wisconsin.

569 tumours, 30 measurements of cell nuclei, and whether the tumour was benign or malignant. The
table comes with scikit-learn; nothing is downloaded.
"""
)
@output_options
@estimator_options("classification")
@click.pass_obj
def demo(
    command: str, /, output: str | None, json_output: str | None, quiet: bool, **settings: Any
) -> None:
    """Analyse the bundled table."""
    from .output import plan_outputs

    outputs = plan_outputs(output, json_output, quiet=quiet)
    from sklearn.datasets import load_breast_cancer

    from .._optional import import_extra
    from .report import ColumnRoles, analyse, collected_notes

    import_extra("pandas", "cli")  # scikit-learn needs it for this table, and names no extra
    bundle = load_breast_cancer(as_frame=True)
    frame = bundle.data.assign(diagnosis=bundle.target_names[bundle.target])
    with collected_notes() as notes:
        analyse(
            frame,
            ColumnRoles("diagnosis"),
            task="classification",
            settings=settings,
            given=given_options(),
            outputs=outputs,
            table="breast cancer (Wisconsin)",
            command=command,
            notes=notes,
        )
