"""1,500 commands with malformed tables and options: a result or a one-line error, no traceback."""

import os
from pathlib import Path

import numpy as np
import pytest

from allrelevant.cli.group import cli

from .forked import report_failures, run_command
from .odd_tables import command_line

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes cannot be forked on Windows")

N_COMMANDS = int(os.environ.get("ALLRELEVANT_CAMPAIGN_COMMANDS", "1500"))
FIRST_SEED = int(os.environ.get("ALLRELEVANT_CAMPAIGN_SEED", "0"))
PAGES = {"report": "report.html", "select": "selection.html", "explain": "explanation.html"}
EARLIER = "the earlier report"


def preload() -> None:
    """Import what the commands need, so that forked processes need not."""
    import matplotlib  # noqa: F401
    import sklearn.svm  # noqa: F401

    import allrelevant.bounds.classification
    import allrelevant.elimination.rfe
    import allrelevant.report.page
    import allrelevant.saliency  # noqa: F401


def problem_of(seed: int, folder: Path) -> tuple[int | None, str | None]:
    """Run the command of a seed, and return its exit code, and what is wrong or None."""
    arguments = command_line(np.random.RandomState(seed), folder, cli.commands)
    page = folder / PAGES[arguments[0]]
    page.write_text(EARLIER)
    outcome = run_command(arguments, timeout=60, folder=folder)
    problem = outcome.problem()
    is_kept = page.exists() and page.read_text() == EARLIER
    if problem is None and (outcome.code == 0) == is_kept:
        problem = "the page was not written" if is_kept else "an error changed the earlier page"
    if problem is None and list(folder.glob(".allrelevant*")):
        problem = "a temporary file was left"
    return outcome.code, None if problem is None else f"{arguments}: {problem}"


def test_commands_with_malformed_tables_and_options(tmp_path, capsys):
    preload()
    failures, n_results = {}, 0
    for seed in range(FIRST_SEED, FIRST_SEED + N_COMMANDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        code, problem = problem_of(seed, folder)
        n_results += code == 0
        if problem is not None:
            failures[seed] = problem
    with capsys.disabled():
        message = report_failures("commands", N_COMMANDS, failures)
        print(f"{n_results} of {N_COMMANDS} reached a result, the others were refused")
    assert not failures, message
    assert n_results >= N_COMMANDS / 2
