"""Command that reproduces the papers' tables and writes them as Markdown pages.

Every run of a row is stored when it ends. To resume an interrupted run, repeat the command. A quick
run measures only the faster rows, with fewer seeds. It writes to its own folder and compares its
results with the published ones.

usage: python -m benchmarks.tables [--quick] [--data FOLDER] [--only NAME ...] [--output FOLDER]
                                   [--jobs N] [--cluster PLACE] [--pages]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from allrelevant.parallel import cluster_context

from .agreement import compare
from .index import write_index
from .page import write_page
from .papers import OTHER_TABLES, PAPERS, TABLES
from .runner import ROOT, Outcome, pending_jobs, run
from .store import Store
from .table import Table

PAGES = ROOT / "docs" / "results"
ROWS = ROOT / "benchmarks" / "tables" / "rows"
QUICK = ROOT / "results-quick"


def main() -> int:
    args = parse_arguments()
    folder = args.output or (QUICK if args.quick else PAGES)
    tables = [TABLES[name] for name in args.only or TABLES]
    store = Store(ROWS if folder == PAGES else folder / "rows")
    outcomes = [] if args.pages else measure(tables, store, args)
    for table in tables:
        paper = next((paper for paper in PAPERS if table in paper.tables), None)
        write_page(table, store, folder, paper)
    write_index(PAPERS, OTHER_TABLES, store, folder)
    print(f"\nPages: {folder}/README.md")
    if folder != PAGES:
        print_agreement(tables, store)
    return 1 if any(outcome.error for outcome in outcomes) else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description="Reproduce the papers' tables and write them as Markdown pages.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure only the faster rows, with fewer seeds"
    )
    parser.add_argument("--data", type=Path, help="folder with the public datasets (.npz)")
    parser.add_argument("--only", nargs="+", choices=TABLES, help="names of the tables to measure")
    parser.add_argument("--output", type=Path, help="folder for the pages and the stored runs")
    parser.add_argument("--jobs", type=int, default=2, help="number of rows measured in parallel")
    parser.add_argument("--cluster", help="Dask cluster, as in `allrelevant report --cluster`")
    parser.add_argument("--pages", action="store_true", help="write the pages without measuring")
    return parser.parse_args()


def measure(tables: Sequence[Table], store: Store, args: argparse.Namespace) -> list[Outcome]:
    """Measure the table rows that are not stored yet, and print one line per row."""
    jobs, skipped = pending_jobs(tables, store, quick=args.quick, data=args.data)
    print_skipped(skipped)
    outcomes, start = list(skipped), time.perf_counter()
    with cluster_context(args.cluster, args.jobs):
        for outcome in run(jobs, store, args.data, args.jobs):
            outcomes.append(outcome)
            done = len(outcomes) - len(skipped)
            print(f"{describe(outcome)}  ({done} of {len(jobs)})", flush=True)
    print(f"\n{len(jobs)} rows in {time.perf_counter() - start:.0f} s, {len(skipped)} skipped")
    for outcome in outcomes:
        if outcome.error:
            print(f"\n{outcome.job.title} failed:\n{outcome.error}", file=sys.stderr)
    return outcomes


def print_skipped(skipped: Sequence[Outcome]) -> None:
    """Print the number of skipped rows per table and reason."""
    counts = Counter((outcome.job.table.name, outcome.skipped) for outcome in skipped)
    for (table, reason), count in counts.items():
        print(f"skipped  {table}: {count} {'row' if count == 1 else 'rows'}, {reason}", flush=True)


def describe(outcome: Outcome) -> str:
    title = outcome.job.title
    if outcome.skipped:
        return f"skipped  {title}: {outcome.skipped}"
    if outcome.error:
        return f"FAILED   {title}: {outcome.error.splitlines()[-1]}"
    return f"{outcome.seconds:6.1f} s  {title}"


def print_agreement(tables: Sequence[Table], store: Store) -> None:
    agreement = compare(tables, store, Store(ROWS))
    n_agreeing = agreement.n_compared - len(agreement.disagreements)
    print(
        f"{n_agreeing} of {agreement.n_compared} values agree with docs/results to within one "
        "standard deviation over seeds."
    )
    for disagreement in agreement.disagreements:
        print(f"  {disagreement}")


if __name__ == "__main__":
    sys.exit(main())
