"""The papers' tables, measured again beside the peers of today, as pages of Markdown.

Resumable: each run of each row is kept as it ends, and what is there is not measured again. A quick
run takes fewer seeds of the cheaper rows, writes to a folder of its own, and compares what it finds
with the published rows.

usage: python -m benchmarks.tables [--quick] [--data FOLDER] [--only NAME ...] [--output FOLDER]
                                   [--jobs N] [--pages]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .agreement import compare
from .index import write_index
from .page import write_page
from .papers import TABLES
from .runner import ROOT, Outcome, jobs_left, run
from .store import Store
from .table import Table

PAGES = ROOT / "docs" / "results"
ROWS = ROOT / "benchmarks" / "tables" / "rows"
QUICK = ROOT / "results-quick"


def main() -> int:
    args = arguments()
    folder = args.output or (QUICK if args.quick else PAGES)
    tables = [TABLES[name] for name in args.only or TABLES]
    store = Store(ROWS if folder == PAGES else folder / "rows")
    outcomes = [] if args.pages else measure(tables, store, args)
    for table in tables:
        write_page(table, store, folder)
    write_index(list(TABLES.values()), store, folder)
    print(f"\nPages: {folder}/README.md")
    if folder != PAGES:
        print_agreement(tables, store)
    return 1 if any(outcome.error for outcome in outcomes) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables", description="The papers' tables, measured again."
    )
    parser.add_argument("--quick", action="store_true", help="few seeds of the cheaper rows")
    parser.add_argument("--data", type=Path, help="folder with the public tables, as .npz")
    parser.add_argument("--only", nargs="+", choices=TABLES, help="some tables")
    parser.add_argument("--output", type=Path, help="folder of the pages and of what was measured")
    parser.add_argument("--jobs", type=int, default=2, help="rows at a time")
    parser.add_argument("--pages", action="store_true", help="measure nothing, write the pages")
    return parser.parse_args()


def measure(tables: Sequence[Table], store: Store, args: argparse.Namespace) -> list[Outcome]:
    jobs, skipped = jobs_left(tables, store, quick=args.quick, data=args.data)
    print_skipped(skipped)
    outcomes, start = list(skipped), time.perf_counter()
    for outcome in run(jobs, store, args.data, args.jobs):
        outcomes.append(outcome)
        done = len(outcomes) - len(skipped)
        print(f"{told(outcome)}  ({done} of {len(jobs)})", flush=True)
    print(f"\n{len(jobs)} rows in {time.perf_counter() - start:.0f} s, {len(skipped)} skipped")
    for outcome in outcomes:
        if outcome.error:
            print(f"\n{outcome.job.title} failed:\n{outcome.error}", file=sys.stderr)
    return outcomes


def print_skipped(skipped: Sequence[Outcome]) -> None:
    """One line for all rows of a table that lack the same file."""
    counts = Counter((outcome.job.table.name, outcome.skipped) for outcome in skipped)
    for (table, reason), count in counts.items():
        print(f"skipped  {table}: {count} {'row' if count == 1 else 'rows'}, {reason}", flush=True)


def told(outcome: Outcome) -> str:
    title = outcome.job.title
    if outcome.skipped:
        return f"skipped  {title}: {outcome.skipped}"
    if outcome.error:
        return f"FAILED   {title}: {outcome.error.splitlines()[-1]}"
    return f"{outcome.seconds:6.1f} s  {title}"


def print_agreement(tables: Sequence[Table], store: Store) -> None:
    found = compare(tables, store, Store(ROWS))
    agree = found.n_compared - len(found.disagreements)
    print(
        f"{agree} of {found.n_compared} figures agree with those in docs/results, seed by seed "
        "within the spread over seeds."
    )
    for disagreement in found.disagreements:
        print(f"  {disagreement}")


if __name__ == "__main__":
    sys.exit(main())
