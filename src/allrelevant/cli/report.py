"""The commands ``report`` and ``demo``, which compute relevance bounds for a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from .._params import AUTO, MAX_SEARCH_SECONDS, METRIC, SURVIVAL, PathParameter
from ..exceptions import InputError
from ..tables.reading import COMPRESSED, FORMATS
from .analyses import (
    COSTS,
    FIT,
    PATH,
    RELATIONS,
    SMALL_SET,
    SUFFICIENCY,
    Analyses,
    search_seconds,
    started_analyses,
)
from .effort import is_moderate, is_small
from .estimators import BOUNDS, Options, build_bounds, fit
from .options import REPORT_PAGE, add_options, estimator_options
from .output import Outputs, collected_notes, plan_outputs, result_table
from .table import TableInput, fit_arguments, table_input

if TYPE_CHECKING:
    from ..parallel import Job
    from ..tables.features import SplitTable
    from ..terms.columns import Column

RELEVANCE_HELP = """\b
Each feature belongs to one of these relevance classes:
  strong       relevant, and every equivalent model needs it
  weak         relevant, but other features can replace it
  unconfirmed  used by every equivalent model, but not significantly more relevant than noise
  irrelevant   not significantly more relevant than noise, and not needed
"""

# Number of feature sets to search for if costs are given.
N_CHEAPEST_SETS = 5

# Time limit of the search for features that are needed in addition to the relevant ones.
SUFFICIENCY_SECONDS = 10.0


@click.command(
    help=f"""Analyze TABLE and write a self-contained HTML report.

TABLE is a file with the suffix {FORMATS}, with column names in the first line. Text files may be
compressed ({COMPRESSED}). "-" reads text from standard input. One column is the target, which
contains classes or numbers. All other columns are features: numbers, or text that is treated as
categories. Values may be missing. Rows without a target are left out.

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

Use --task ordinal for ordered classes, such as grades; state the order of words with --order. Use
--task ranking to rank rows of one class above rows of the other. It is suitable if one class is
rare. Use --task survival for right-censored times: the target is the time, and --event names the
column that is 1 for events and 0 for censored times.

\b
Examples:
  allrelevant report patients.csv --target diagnosis
  allrelevant report patients.csv.gz --target diagnosis --drop id --drop name -o out.html
  allrelevant report patients.csv --target diagnosis --jobs -1 --json result.json
  allrelevant report houses.csv --target price --task regression
  allrelevant report trial.xlsx --sheet visits --target severity --task ordinal --order low,mid,high
  allrelevant report patients.csv --target months --event died --task survival
  allrelevant report patients.csv --target relapse --privileged biopsy
  allrelevant report patients.csv --target diagnosis --path C
  allrelevant report spectra.csv --target quality --method metric --rank 2
  allrelevant report patients.csv --target diagnosis --fdr 0.1
  allrelevant report patients.csv --target diagnosis --cluster tcp://10.0.0.1:8786
  allrelevant report patients.csv --target diagnosis --relations --costs costs.csv
  allrelevant report patients.csv --target diagnosis --proof proof.json

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
    method: str,
    task: str,
    path: PathParameter | None,
    relations: bool | None,
    small_set: bool | None,
    costs: str | None,
    output: str | None,
    json_output: str | None,
    table_output: str | None,
    proof_output: str | None,
    quiet: bool,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Analyze a table file and write an HTML report."""
    source = table_input(settings)
    if proof_output is not None:
        _check_proof(method, task, source, settings.get("formulation"))
    outputs = plan_outputs(
        output,
        json_output,
        table_output,
        proof_output,
        default=REPORT_PAGE,
        quiet=quiet,
        table=source.table,
    )
    from ..parallel import cluster_context
    from ..tables.features import read_feature_costs

    with collected_notes(prints_answer=outputs.prints_result) as notes:
        if method == METRIC:
            _check_metric(
                task,
                event=source.event,
                privileged=source.privileged,
                path=path,
                relations=relations,
                small_set=small_set,
                costs=costs,
            )
            task = METRIC
        feature_costs = None if costs is None else read_feature_costs(costs)
        is_shown = bool(outputs.verbose) and task != METRIC
        with (
            started_analyses(settings, verbose=is_shown) as analyses,
            cluster_context(cluster, settings["n_jobs"]),
        ):
            document, proof = _analyze(
                analyses,
                source.split(numbers_only=task == METRIC),
                task,
                estimator_options(settings, verbose=outputs.verbose),
                outputs,
                path=path,
                relations=relations,
                small_set=small_set,
                costs=feature_costs,
                table=source.name,
                command=command,
                notes=notes,
            )
        outputs.write(document, result_table, proof)


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


def _check_proof(method: str, task: str, source: TableInput, formulation: str | None) -> None:
    """Raise if an option is set for which proofs are not available."""
    conflicts = {
        "--method metric": method == METRIC,
        "--task survival": task == SURVIVAL,
        "--event": source.event is not None,
        "--privileged": bool(source.privileged),
        "--dates": source.dates is not None,
        "--formulation joint": formulation == "joint",
    }
    for option, is_set in conflicts.items():
        if is_set:
            raise InputError(f"--proof cannot be combined with {option}. Remove one of the two.")


def _check_event(task: str, event: str | None) -> str:
    """Return the task, which is survival if there is an event; raise if they do not match."""
    if event is None and task == SURVIVAL:
        raise InputError(
            "--task survival requires --event COLUMN, which tells the events (1) from the censored "
            "times (0). If no time is censored, add a column of ones."
        )
    if event is not None and task not in (AUTO, SURVIVAL):
        raise InputError(f"--event requires --task survival (got {task}).")
    return task if event is None else SURVIVAL


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
    table_output: str | None,
    quiet: bool,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Analyze the Wisconsin breast cancer data and write an HTML report."""
    outputs = plan_outputs(output, json_output, table_output, default=REPORT_PAGE, quiet=quiet)
    from sklearn.datasets import load_breast_cancer

    from ..parallel import cluster_context
    from ..tables.features import SplitTable
    from ..terms.columns import Frame, word_column

    bundle = load_breast_cancer()
    X = Frame.from_numpy(bundle.data, bundle.feature_names.tolist())
    diagnosis = word_column("diagnosis", bundle.target_names[bundle.target].tolist())
    with (
        collected_notes(prints_answer=outputs.prints_result) as notes,
        started_analyses(settings, verbose=bool(outputs.verbose)) as analyses,
        cluster_context(cluster, settings["n_jobs"]),
    ):
        document, proof = _analyze(
            analyses,
            SplitTable(X, diagnosis),
            "classification",
            estimator_options(settings, verbose=outputs.verbose),
            outputs,
            relations=relations,
            small_set=small_set,
            table="breast cancer (Wisconsin)",
            command=command,
            notes=notes,
        )
    outputs.write(document, result_table, proof)


def _analyze(
    analyses: Analyses,
    columns: SplitTable,
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
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Compute the bounds of all features of a table; return the document and the proof, if any."""
    from ..bounds.design import read_costs
    from ..bounds.task import task_by_name
    from ..results.bounds import bounds_document
    from ..tables.inference import infer_task
    from ..tables.target import with_events

    X, target = columns.X, columns.y.name
    read_costs(costs, X.columns)  # raises on invalid costs before the fit
    task = _check_event(task, None if columns.event is None else columns.event.name)
    inferred = infer_task(columns.y) if task == AUTO else None
    task, reason = (inferred.task, inferred.reason) if inferred else (task, "")
    ordered, options = _order_classes(columns.y, task, options)
    est = build_bounds(task, options, reason)
    y = task_by_name(task).read_target(ordered, target)
    if columns.event is not None:
        y = with_events(y, columns.event)
    arguments = fit_arguments(est, columns)
    outputs.note(inferred.note if inferred else None)
    if task == METRIC:
        fit(est, X, y, **arguments)
    else:
        analyses.plan(_possible_steps(est, X, path, relations, small_set, costs))
        fit(est, X, y, job=analyses.next_part(FIT), **arguments)
    parts = _further_results(
        analyses, est, X, y, arguments, path, relations, small_set, costs, task == METRIC
    )
    analyses.warn()
    document = bounds_document(
        est,
        X,
        y,
        table=table,
        target=target,
        task_note=inferred.note if inferred else None,
        not_reached=analyses.not_reached,
        warnings=notes,
        command=command,
        **parts,
    )
    if outputs.proof is None:
        return document, None
    weight = arguments.get("sample_weight")
    return document, est.export_proof(X, y, weight, target=target, rows=columns.rows)


def _possible_steps(
    est: Any,
    X: Any,
    path: PathParameter | None,
    relations: bool | None,
    small_set: bool | None,
    costs: dict[str, float] | None,
) -> list[str]:
    """Return the steps to expect before the fit."""
    by_default = is_small(X)
    is_expected = {
        FIT: True,
        PATH: path is not None,
        RELATIONS: by_default if relations is None else relations,
        COSTS: costs is not None,
        SMALL_SET: by_default if small_set is None else small_set,
        SUFFICIENCY: by_default,
    }
    return [step for step, expected in is_expected.items() if expected]


def _further_results(
    analyses: Analyses,
    est: Any,
    X: Any,
    y: Any,
    arguments: dict[str, Any],
    path: PathParameter | None,
    relations: bool | None,
    small_set: bool | None,
    costs: dict[str, float] | None,
    is_metric: bool,
) -> dict[str, Any]:
    """Return the results of the analyses that are requested, or that run by default."""
    from sklearn.base import clone

    from ..bounds.path import compute_path
    from ..results.answer import has_evidence

    if is_metric:
        return {}
    moderate = is_moderate(est, X)
    n_relevant = int(est.get_support().sum())
    has_relation = has_evidence(est.table_pvalue_)
    is_wanted = {
        PATH: path is not None,
        RELATIONS: moderate and n_relevant > 1 if relations is None else relations,
        COSTS: costs is not None,
        SMALL_SET: (moderate and has_relation if small_set is None else small_set) and n_relevant,
        SUFFICIENCY: moderate and has_relation,
    }

    def search(job: Job, **request: Any) -> Any:
        seconds = search_seconds(job, MAX_SEARCH_SECONDS)
        return est._cheapest_in_job(job, max_seconds=seconds, **request)

    functions: dict[str, tuple[str, Callable[[Job], Any]]] = {
        PATH: ("path", lambda job: compute_path(job, clone(est), X, y, path or "C", **arguments)),
        RELATIONS: ("relations", lambda job: est._relations_in_job(job)),
        COSTS: ("design", lambda job: search(job, costs=costs, n_solutions=N_CHEAPEST_SETS)),
        SMALL_SET: ("small_set", search),
        SUFFICIENCY: (
            "sufficiency",
            lambda job: est._sufficiency_in_job(job, search_seconds(job, SUFFICIENCY_SECONDS)),
        ),
    }
    steps = [step for step in functions if is_wanted[step]]
    analyses.plan(list(steps))
    return {functions[step][0]: analyses.run(step, functions[step][1]) for step in steps}


def _order_classes(y: Column, task: str, options: Options) -> tuple[Column, Options]:
    """Return the target with the order of its classes, and the options that state this order."""
    if "classes" not in BOUNDS[task].options:
        return y, options
    from ..tables.target import order_classes

    order = options.settings.get("classes")
    if order is not None:
        y = order_classes(y, y.name, order)
    levels = list(y.levels) if y.kind == "ordered" else None
    return y, replace(options, settings={**options.settings, "classes": levels})
