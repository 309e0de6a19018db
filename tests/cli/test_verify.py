"""Tests of ``report --proof`` and ``verify``: round trip, exit codes, messages."""

import json
from pathlib import Path

import pandas as pd
import pytest

from allrelevant import proof_checker

REPORT = (
    "report",
    "table.csv",
    "--target",
    "sick",
    "--C",
    "1",
    "--cutoff",
    "0.1",
    "-q",
    "--no-relations",
    "--no-small-set",
)


@pytest.fixture
def proof(run, folder):
    """Write a proof of the table, and return its path."""
    done = run(*REPORT, "--proof", "proof.json")
    assert done.exit_code == 0, done.output
    return folder / "proof.json"


def test_a_proof_is_verified(run, proof):
    done = run("verify", "proof.json", "table.csv")
    assert done.exit_code == 0
    assert done.output.startswith(
        "The proof holds for table.csv: classification, target sick, 80 rows, 5 features.\n"
    )
    assert "alpha" in done.output
    assert run("verify", "proof.json", "table.csv", "-q").output == ""


def test_a_changed_table_fails(run, proof, folder, frame):
    frame.assign(delta=frame["delta"].round(6)).to_csv(folder / "table.csv", index=False)
    done = run("verify", "proof.json", "table.csv")
    assert done.exit_code == 1
    assert "not that of the proof" in done.output


def test_a_changed_proof_fails_with_a_line_per_claim(run, proof):
    content = json.loads(proof.read_text())
    for bound in content["problems"][0]["bounds"][:2]:
        bound[2]["proven"] = -1.0
    proof.write_text(json.dumps(content))
    assert "was changed" in run("verify", "proof.json", "table.csv").output
    content.pop("digest")
    proof.write_text(json.dumps({**content, "digest": proof_checker.digest(content)}))
    done = run("verify", "proof.json", "table.csv")
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 2


def test_other_formats_and_rows_without_a_target(run, folder, frame):
    frame.loc[frame.index[::9], "sick"] = None
    frame["flag"] = pd.Series([True, False, None, True] * 20, dtype=object)
    frame["site"] = ["u", "v", "w", "u"] * 20
    frame.to_csv(folder / "table.csv", index=False, sep=";", decimal=",")
    frame.to_csv(folder / "plain.csv", index=False)
    assert run(*REPORT, "--proof", "proof.json").exit_code == 0
    for table in ("table.csv", "plain.csv"):
        done = run("verify", "proof.json", table)
        assert done.exit_code == 0, done.output
    assert "Not covered by the proof: 'flag' and 'site'." in done.output
    content = json.loads((folder / "proof.json").read_text())
    cells = proof_checker.read_csv("plain.csv", content)
    assert proof_checker.verify(content, cells)[1] == []


@pytest.mark.parametrize("task", ["classification", "regression", "ordinal"])
def test_several_classes_and_numbers(run, folder, frame, task):
    grade = pd.qcut(frame["alpha"], 3, labels=False)
    frame.assign(grade=grade).drop(columns="sick").to_csv(folder / "table.csv", index=False)
    command = ("report", "table.csv", "--target", "grade", "--task", task, *REPORT[4:])
    done = run(*command, "--proof", "proof.json")
    assert done.exit_code == 0, done.output
    done = run("verify", "proof.json", "table.csv")
    assert done.exit_code == 0, done.output
    content = json.loads((folder / "proof.json").read_text())
    assert len(content["problems"]) == (3 if task == "classification" else 1)


def test_the_checker_is_printed(run):
    done = run("verify", "--show-checker")
    assert done.exit_code == 0
    assert done.output == Path(proof_checker.__file__).read_text(encoding="utf-8")


def test_unusable_input(run, proof, folder, frame):
    cases = {
        ("verify", "table.csv", "table.csv"): "it is not JSON",
        ("verify", "absent.json", "table.csv"): "No such file",
        ("verify", "proof.json", "absent.csv"): "does not exist",
        ("verify", "list.json", "table.csv"): "not a JSON object",
        ("verify", "empty.json", "table.csv"): "KeyError: 'kinds'",
        ("verify", "proof.json", "renamed.csv"): "no column 'alpha'",
        ("verify", "proof.json", "short.csv"): "uses row 80",
    }
    (folder / "list.json").write_text("[]")
    (folder / "empty.json").write_text("{}")
    frame.rename(columns={"alpha": "beth"}).to_csv(folder / "renamed.csv", index=False)
    frame[:40].to_csv(folder / "short.csv", index=False)
    for arguments, message in cases.items():
        done = run(*arguments)
        assert done.exit_code == 2, arguments
        assert message in done.output
        assert len(done.output.splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "metric"),
        ("--event", "beta"),
        ("--privileged", "beta"),
        ("--dates", "days"),
        ("--formulation", "joint"),
        ("--task", "survival"),
    ],
)
def test_options_without_proofs(run, options):
    done = run(*REPORT, "--proof", "proof.json", *options)
    assert done.exit_code == 2
    assert "--proof cannot be combined with" in done.output
