"""The commands ``report`` and ``demo``, which compute relevance bounds for a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._params import AUTO, METRIC, PathParameter
from ..exceptions import InputError
from ..tables.reading import COMPRESSED
from .effort import find_small_set, is_moderate
from .estimators import Options, build_bounds, fit
from .options import REPORT_PAGE, add_options, estimator_options
from .output import Outputs, collected_notes, plan_outputs, result_table

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.features import ColumnRoles

RELEVANCE_HELP = """\b
Each feature belongs to one of these relevance classes:
  strong       relevant, and every equivalent model needs it
  weak         relevant, but other features can replace it
  unconfirmed  used by every equivalent model, but not significantly more relevant than noise
  irrelevant   not significantly more relevant than noise, and not needed
"""

# Number of feature sets to search for if costs are given.
N_CHEAPEST_SETS = 5


@click.command(
    help=f"""Analyze TABLE and write a self-contained HTML report.

TABLE is a .csv or .tsv file with column names in the first line, or a .parquet file. Text files
may be compressed ({COMPRESSED}). One column is the target, which contains classes or numbers. All
other columns are features. They must be numeric, without missing values.

Equivalent models are all linear models whose norm and loss are close to those of a regularized
baseline. The report gives the smallest and the largest absolute weight of each feature over all
equivalent models.

{RELEVANCE_HELP}
\b
With --task auto, the command infers the task from the target and reports it:
  text, or true and false                         classification
  numbers with a fractional part                  regression
  integers with more than 20 distinct values,
    or with a different value in most rows        regression
  other integers                                  classification

Use --task ordinal for ordered classes, such as numeric grades. Use --task ranking to rank rows of
one class above rows of the other. It is suitable if one class is rare.

\b
Examples:
  allrelevant report patients.csv --target diagnosis
  allrelevant report patients.csv.gz --target diagnosis --drop id --drop name -o out.html
  allrelevant report patients.csv --target diagnosis --jobs -1 --json result.json
  allrelevant report houses.csv --target price --task regression
  allrelevant report patients.csv --target relapse --privileged biopsy
  allrelevant report patients.csv --target diagnosis --path C
  allrelevant report spectra.csv --target quality --method metric --rank 2
  allrelevant report patients.csv --target diagnosis --fdr 0.1
  allrelevant report patients.csv --target diagnosis --cluster tcp://10.0.0.1:8786
  allrelevant report patients.csv --target diagnosis --relations --costs costs.csv

If the input is invalid, the command prints a one-line error and exits with code 2. It does not
modify an existing report.
"""
)
@click.argument("table")
@add_options("report")
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
    path: PathParameter | None,
    relations: bool | None,
    small_set: bool | None,
    costs: str | None,
    sep: str | None,
    output: str | None,
    json_output: str | None,
    quiet: bool,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Analyze a table file and write an HTML report."""
    outputs = plan_outputs(output, json_output, default=REPORT_PAGE, quiet=quiet, table=table)
    from ..parallel import cluster_context
    from ..tables.features import ColumnRoles, read_feature_costs
    from ..tables.reading import read_table

    with collected_notes(prints_answer=outputs.prints_result) as notes:
        frame = read_table(table, separator=sep)
        if method == METRIC:
            _check_metric(
                task,
                privileged=privileged,
                path=path,
                relations=relations,
                small_set=small_set,
                costs=costs,
            )
            task = METRIC
        feature_costs = None if costs is None else read_feature_costs(costs)
        with cluster_context(cluster, settings["n_jobs"]):
            _analyze(
                frame,
                ColumnRoles(target, drop, privileged),
                task,
                estimator_options(settings, verbose=outputs.verbose),
                outputs,
                path=path,
                relations=relations,
                small_set=small_set,
                costs=feature_costs,
                table=Path(table).name,
                command=command,
                notes=notes,
            )


def _check_metric(task: str, **linear_only: Any) -> None:
    """Raise if an option is set that metric bounds do not support."""
    if task not in (AUTO, "classification"):
        raise InputError(f"--method metric requires --task classification (got {task}).")
    for name, value in linear_only.items():
        if value:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{flag} cannot be combined with --method metric. Remove one of the two options."
            )


@click.command(
    help="""Analyze a bundled example, the Wisconsin breast cancer data.

The table has 569 rows, one per tumor, and 30 features, which are measurements of cell nuclei. The
target is the diagnosis, benign or malignant. The data are part of scikit-learn, so nothing is
downloaded.
"""
)
@add_options("demo")
@click.pass_obj
def demo(
    command: str,
    /,
    relations: bool | None,
    small_set: bool | None,
    output: str | None,
    json_output: str | None,
    quiet: bool,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Analyze the Wisconsin breast cancer data and write an HTML report."""
    outputs = plan_outputs(output, json_output, default=REPORT_PAGE, quiet=quiet)
    from sklearn.datasets import load_breast_cancer

    from ..parallel import cluster_context
    from ..tables.features import ColumnRoles

    bundle = load_breast_cancer(as_frame=True)
    frame = bundle.data.assign(diagnosis=bundle.target_names[bundle.target])
    with (
        collected_notes(prints_answer=outputs.prints_result) as notes,
        cluster_context(cluster, settings["n_jobs"]),
    ):
        _analyze(
            frame,
            ColumnRoles("diagnosis"),
            "classification",
            estimator_options(settings, verbose=outputs.verbose),
            outputs,
            relations=relations,
            small_set=small_set,
            table="breast cancer (Wisconsin)",
            command=command,
            notes=notes,
        )


def _analyze(
    frame: pd.DataFrame,
    roles: ColumnRoles,
    task: str,
    options: Options,
    outputs: Outputs,
    *,
    path: PathParameter | None = None,
    relations: bool | None = None,
    small_set: bool | None = None,
    costs: dict[str, float] | None = None,
    table: str,
    command: str,
    notes: list[str],
) -> None:
    """Compute the relevance bounds of all features of a table and write the result."""
    from ..bounds.design import read_costs
    from ..bounds.path import bounds_path
    from ..bounds.task import task_by_name
    from ..results.answer import has_evidence
    from ..results.bounds import bounds_document
    from ..tables.features import split_features
    from ..tables.inference import infer_task

    columns = split_features(frame, roles)
    X, privileged = columns.X, columns.privileged
    read_costs(costs, X.columns.tolist())  # raises on invalid costs before the fit
    inferred = infer_task(columns.y) if task == AUTO else None
    task, reason = (inferred.task, inferred.reason) if inferred else (task, "")
    y = task_by_name(task).read_target(columns.y, roles.target)
    est = build_bounds(task, options, reason)
    outputs.note(inferred.note if inferred else None)
    fit(est, X, y, **({} if privileged is None else {"privileged": privileged}))
    moderate = task != METRIC and is_moderate(est, X)
    if relations is None:
        relations = moderate and est.get_support().sum() > 1
    if small_set is None:
        small_set = moderate and has_evidence(est.table_pvalue_)
    document = bounds_document(
        est,
        X,
        y,
        table=table,
        target=roles.target,
        task_note=inferred.note if inferred else None,
        path=None if path is None else bounds_path(est, X, y, param=path, privileged=privileged),
        relations=est.relations() if relations else None,
        design=None if costs is None else est.cheapest(costs, n_solutions=N_CHEAPEST_SETS),
        small_set=find_small_set(est, wanted=small_set),
        sufficiency=est.sufficiency() if moderate and has_evidence(est.table_pvalue_) else None,
        warnings=notes,
        command=command,
    )
    outputs.write(document, result_table)
