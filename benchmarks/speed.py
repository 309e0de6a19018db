"""Speed and memory of the intervals: one run, one machine, the same constraints for all.

Beside one warm-started HiGHS model with two programs a feature; on the small tables also beside the
papers' three cold programs a feature (scipy's HiGHS) and fri 9.0.0. Each in a process of its own.
fri needs NumPy 1 and two packages that it does not declare, so it gets an environment of its own,
`.fri-env`, installed on first use. The gene tables are read from a folder given with --data; those
that are not there are skipped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant.bounds.baseline import FORMULATIONS

from .comparators import fri_peer
from .speed_cases import CASES, Case
from .speed_run import TABLE_MISSING

ROOT = Path(__file__).parent.parent

NAMES = {
    "absolute": "allrelevant",
    "signed": "allrelevant, both signed ends",
    "warm": "one warm HiGHS model",
    "cold": "the papers' cold programs",
    "fri": "fri 9.0.0",
}

Result = dict[str, Any]


def run(
    method: str,
    case: Case,
    data: Path | None,
    features: int | None = None,
    timeout: float | None = None,
) -> Result:
    """What a method takes on a case; only its time limit if that was not enough."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "interval.npy"
        command = [sys.executable, "-m", "benchmarks.speed_run", method, case.name]
        command += ["--save", str(saved)]
        command += ["--data", str(data)] if data else []
        command += ["--features", str(features)] if features else []
        try:
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, timeout=timeout, cwd=ROOT
            )
        except subprocess.TimeoutExpired:
            return {"stopped": timeout}
        return json.loads(done.stdout) | {"interval": np.load(saved)}


def run_fri(case: Case) -> Result:
    samples = case.load(None)
    baseline = FORMULATIONS["separate"].fit(samples, case.C)
    norm, loss = case.slack.norm_limit(baseline.model), case.slack.loss_limit(baseline.model)
    return fri_answer(X=samples.X, y=samples.y, C=case.C, norm=norm, loss=loss)


def fri_answer(**task: Any) -> Result:
    """What fri takes on a task, in its own environment; see ``fri_intervals.py``."""
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "task.npz", Path(folder) / "answer.json"
        np.savez(file, repeats=1, **task)
        script = Path(__file__).parent / "fri_intervals.py"
        subprocess.run(
            [fri_peer.PYTHON, script, file, answer], check=True, stderr=subprocess.DEVNULL
        )
        result = json.loads(answer.read_text())
    return result | {"interval": np.array(result["interval"])}


def compare(case: Case, data: Path | None, with_fri: bool, patience: float) -> None:
    signed, ours = run("signed", case, data), run("absolute", case, data)
    print(
        f"\n### {case.name}\n\nC = {case.C:g}, delta = {case.slack.norm_slack:g}; baseline "
        f"{signed['baseline_seconds']:.2f} s; {signed['pivots']:,} pivots; "
        f"{signed['fallbacks']} programs settled by HiGHS; largest gap {signed['gap']:.0e}\n\n"
        "| | programs | spared | seconds | ratio | peak MB | largest difference |\n"
        "| --- | --- | --- | --- | --- | --- | --- |",
        flush=True,
    )
    print_row("absolute", ours, ours)
    print_row("signed", ours, signed)
    features = case.warm_features
    print_row("warm", ours, run("warm", case, data, features, patience if features else None))
    if case.cold:
        print_row("cold", ours, run("cold", case, data))
        if with_fri:
            print_row("fri", ours, run_fri(case))


def print_row(method: str, ours: Result, result: Result) -> None:
    name = NAMES[method]
    if "stopped" in result:
        a_program = ours["seconds"] / ours["programs"]
        print(
            f"| {name} | 0, stopped | | > {result['stopped']:.0f} "
            f"| > {result['stopped'] / a_program:,.0f} a program | | |",
            flush=True,
        )
        return
    asked = len(result["interval"])
    note = f", from {result['programs']}" if asked < ours["features"] else ""
    spared = f"{result['spared']:,}" if "spared" in result else ""
    seconds = result["seconds"] * ours["features"] / asked
    difference = np.abs(result["interval"] - ours["interval"][:asked]).max()
    print(
        f"| {name} | {result['programs'] * ours['features'] // asked:,}{note} | {spared} "
        f"| {seconds:.4g} | {ratio(seconds / ours['seconds'])} | {result['megabytes']:,.0f} "
        f"| {difference:.0e} |",
        flush=True,
    )


def ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 3 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-fri", action="store_true")
    parser.add_argument("--data", type=Path, help="folder with the gene tables")
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for plain HiGHS")
    args = parser.parse_args()
    with_fri = not args.without_fri
    if with_fri:
        fri_peer.install()
    for name in args.only:
        try:
            compare(CASES[name], args.data, with_fri, args.patience)
        except subprocess.CalledProcessError as error:
            if error.returncode != TABLE_MISSING:
                raise
            print(f"\n### {name}\n\nskipped: its table is not in the data folder", flush=True)


if __name__ == "__main__":
    main()
