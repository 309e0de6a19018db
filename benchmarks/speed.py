"""Time and memory for computing relevance intervals, with identical constraints for all methods.

`allrelevant` is compared with one warm-started HiGHS model (two LPs per feature). On the small
tables it is also compared with the papers' three LPs per feature, solved from scratch with SciPy's
HiGHS, and with fri 9.0.0. Each method runs in a separate process.

fri requires NumPy 1 and two packages that it does not declare, so it is installed in a separate
environment, `.fri-env`, on first use. Tables that are not in the folder --data are skipped.
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
    "signed": "allrelevant, signed ranges",
    "warm": "HiGHS, warm start",
    "cold": "three LPs per feature, cold start",
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
    """Measure a method on a table; on a timeout, the result contains only the time limit."""
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
    """Compute relevance intervals with fri in its Python environment.

    See ``fri_intervals.py``.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "task.npz", Path(folder) / "answer.json"
        np.savez(file, repeats=1, **task)
        script = Path(__file__).parent / "fri_intervals.py"
        subprocess.run(
            [fri_peer.PYTHON, script, file, answer], check=True, stderr=subprocess.DEVNULL
        )
        result = json.loads(answer.read_text())
    return result | {"interval": np.array(result["interval"])}


def compare(case: Case, data: Path | None, with_fri: bool, time_limit: float) -> None:
    signed, ours = run("signed", case, data), run("absolute", case, data)
    fallbacks = {0: "No LP", 1: "One LP"}.get(signed["fallbacks"], f"{signed['fallbacks']} LPs")
    seconds = signed["baseline_seconds"]
    fit_time = f"{seconds:.2f} s" if seconds >= 0.01 else "less than 0.01 s"
    print(
        f"\n### {case.name}\n\nThe settings are C = {case.C:g} and norm_slack = "
        f"{case.slack.norm_slack:g}. Fitting the baseline took {fit_time}. Computing the signed "
        f"ranges required {signed['pivots']:,} pivots. {fallbacks} required the HiGHS fallback. "
        f"The largest gap is {signed['gap']:.0e}.\n\n"
        "| Method | LPs | LPs skipped | Seconds | Ratio | Peak memory, MB | Largest difference |\n"
        "| --- | --- | --- | --- | --- | --- | --- |",
        flush=True,
    )
    print_row("absolute", ours, ours)
    print_row("signed", ours, signed)
    features = case.warm_features
    print_row("warm", ours, run("warm", case, data, features, time_limit if features else None))
    if case.cold:
        print_row("cold", ours, run("cold", case, data))
        if with_fri:
            print_row("fri", ours, run_fri(case))


def print_row(method: str, ours: Result, result: Result) -> None:
    name = NAMES[method]
    if "stopped" in result:
        seconds_per_lp = ours["seconds"] / ours["programs"]
        print(
            f"| {name} | 0, stopped | | > {result['stopped']:.0f} "
            f"| > {result['stopped'] / seconds_per_lp:,.0f} per LP | | |",
            flush=True,
        )
        return
    n_solved = len(result["interval"])
    note = f", extrapolated from {result['programs']}" if n_solved < ours["features"] else ""
    skipped = f"{result['skipped']:,}" if "skipped" in result else ""
    seconds = result["seconds"] * ours["features"] / n_solved
    difference = np.abs(result["interval"] - ours["interval"][:n_solved]).max()
    print(
        f"| {name} | {result['programs'] * ours['features'] // n_solved:,}{note} | {skipped} "
        f"| {seconds:.4g} | {format_ratio(seconds / ours['seconds'])} | {result['megabytes']:,.0f} "
        f"| {difference:.0e} |",
        flush=True,
    )


def format_ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 3 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-fri", action="store_true", help="skip fri, do not install it")
    parser.add_argument("--data", type=Path, help="folder with gene expression data and spectra")
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument(
        "--time-limit", type=float, default=120.0, help="time limit for HiGHS, in seconds"
    )
    args = parser.parse_args()
    with_fri = not args.without_fri
    if with_fri:
        fri_peer.install()
    for name in args.only:
        try:
            compare(CASES[name], args.data, with_fri, args.time_limit)
        except subprocess.CalledProcessError as error:
            if error.returncode != TABLE_MISSING:
                raise
            print(f"\n### {name}\n\nSkipped: the table is not in the data folder.", flush=True)


if __name__ == "__main__":
    main()
