"""Bad input: one line that helps, exit code 2, and the earlier report as it was."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

Run = Callable[..., Result]
FAST = ["--C", "1", "--cutoff", "0.1", "--task", "classification"]


def assert_refused(result: Result, *fragments: str) -> None:
    """One line on stderr with all fragments, nothing on stdout, and nothing overwritten."""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    for fragment in fragments:
        assert fragment in lines[0]
    assert result.stdout == ""
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert Path("report.html").read_text() == "the earlier report"
    assert sorted(path.name for path in Path().glob(".allrelevant*")) == []


def write(frame: pd.DataFrame, name: str = "bad.csv") -> None:
    if name.endswith(".parquet"):
        frame.to_parquet(name)
    else:
        frame.to_csv(name, index=False)


def test_missing_file(run: Run) -> None:
    assert_refused(run("report", "absent.csv", "-t", "sick"), "no file", "'absent.csv'")


def test_folder(run: Run) -> None:
    Path("sub.csv").mkdir()
    assert_refused(run("report", "sub.csv", "-t", "sick"), "folder")


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.gz", "table.parquet.gz"])
def test_unknown_ending(run: Run, name: str) -> None:
    Path(name).write_text("a,sick\n1,yes\n")
    assert_refused(run("report", name, "-t", "sick"), ".parquet", ".csv", "--sep")


@pytest.mark.parametrize(
    "name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.csv.zip", "x.csv.zst"]
)
def test_garbage(run: Run, name: str) -> None:
    Path(name).write_bytes(bytes(range(128, 256)) * 20)
    assert_refused(run("report", name, "-t", "sick"), "Cannot read", name)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.zst"])
def test_empty_file(run: Run, name: str) -> None:
    Path(name).write_bytes(b"")
    assert_refused(run("report", name, "-t", "sick"), "Cannot read", name)


def test_truncated_gzip(run: Run) -> None:
    whole = gzip.compress(Path("table.csv").read_bytes())
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert_refused(run("report", "cut.csv.gz", "-t", "sick"), "Cannot read")


@pytest.mark.parametrize("name", ["bad.csv", "bad.parquet"])
def test_header_only(run: Run, frame: pd.DataFrame, name: str) -> None:
    write(frame.iloc[:0], name)
    assert_refused(run("report", name, "-t", "sick"), "no rows")


def test_rows_longer_than_the_header(run: Run) -> None:
    Path("bad.csv").write_text("a,sick\n" + "1,2,yes\n3,4,no\n" * 4)
    assert_refused(run("report", "bad.csv", "-t", "sick"), "more cells")


def test_uneven_rows(run: Run) -> None:
    Path("bad.csv").write_text("a,sick\n1,yes\n1,2,3,4\n")
    assert_refused(run("report", "bad.csv", "-t", "sick"), "Cannot read", "line 3")


def test_unknown_target_suggests_close_names(run: Run) -> None:
    result = run("report", "table.csv", "-t", "Sik")
    assert_refused(result, "'Sik'", "Did you mean 'sick'?", "'alpha'", "'epsilon'")


def test_unknown_target_in_a_wide_table_lists_some(run: Run) -> None:
    write(pd.DataFrame(np.zeros((5, 300)), columns=[f"f{j}" for j in range(300)]))
    assert_refused(run("report", "bad.csv", "-t", "class"), "'f0'", "290 more")


def test_wrong_separator_is_hinted_at(run: Run, frame: pd.DataFrame) -> None:
    frame.to_csv("bad.csv", index=False, sep=";")
    assert_refused(run("report", "bad.csv", "-t", "sick"), "--sep")


def test_unknown_drop(run: Run) -> None:
    assert_refused(run("report", "table.csv", "-t", "sick", "--drop", "alhpa"), "'alpha'")


def test_target_dropped(run: Run) -> None:
    assert_refused(run("report", "table.csv", "-t", "sick", "--drop", "sick"), "'sick'", "target")


def test_one_class(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sick="yes"))
    assert_refused(run("report", "bad.csv", "-t", "sick"), "'sick'", "single class, yes")


def test_missing_targets(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sick=frame["sick"].where(frame.index > 2)))
    assert_refused(run("report", "bad.csv", "-t", "sick"), "'sick'", "3 of 80 rows")


@pytest.mark.parametrize("name", ["bad.csv", "bad.parquet"])
def test_missing_and_infinite_values(run: Run, frame: pd.DataFrame, name: str) -> None:
    bad = frame.copy()
    bad.loc[:1, "alpha"] = np.nan
    bad.loc[5, "beta"] = -np.inf
    write(bad, name)
    assert_refused(
        run("report", name, "-t", "sick"), "'alpha' (2 missing)", "'beta' (1 infinite)", "--drop"
    )


def test_missing_nullable_values(run: Run, frame: pd.DataFrame) -> None:
    bad = frame.assign(n=pd.array([None, *range(79)], dtype="Int64"))
    write(bad, "bad.parquet")
    assert_refused(run("report", "bad.parquet", "-t", "sick"), "'n' (1 missing)")


def test_missing_booleans(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(b=[None, *[True, False] * 39, True]))
    assert_refused(run("report", "bad.csv", "-t", "sick"), "'b' (1 missing)")


def test_text_columns(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sex="male", age=["41"] * 79 + ["?"]))
    assert_refused(
        run("report", "bad.csv", "-t", "sick"),
        "'sex' (such as 'male')",
        "'age' (such as '?')",
        "get_dummies",
        "--drop",
    )


def test_categories(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sex=pd.Categorical(["m", "f"] * 40)), "bad.parquet")
    assert_refused(run("report", "bad.parquet", "-t", "sick"), "'sex'", "get_dummies")


def test_dates(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(born=pd.Timestamp("2020-01-01")), "bad.parquet")
    assert_refused(run("report", "bad.parquet", "-t", "sick"), "'born'", "dates")


def test_duplicate_names_in_csv(run: Run) -> None:
    text = Path("table.csv").read_text().replace("beta", "alpha", 1)
    Path("bad.csv").write_text(text)
    assert_refused(run("report", "bad.csv", "-t", "sick"), "same name", "'alpha'")


def test_duplicate_names_in_parquet(run: Run) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table([[1.0] * 5, [2.0] * 5, ["a", "b"] * 2 + ["a"]], names=["x", "x", "sick"])
    pq.write_table(table, "bad.parquet")
    assert_refused(run("report", "bad.parquet", "-t", "sick"), "same name", "'x'")


def test_too_few_rows(run: Run, frame: pd.DataFrame) -> None:
    write(frame.iloc[:3])
    assert_refused(run("report", "bad.csv", "-t", "sick"), "4 rows", "has 3")


def test_continuous_target(run: Run, frame: pd.DataFrame) -> None:
    result = run("report", "table.csv", "-t", "alpha", "--drop", "sick", *FAST)
    assert_refused(result, "'alpha'", "continuous", "--task regression")


def test_target_of_identifiers(run: Run, frame: pd.DataFrame) -> None:
    write(frame.assign(sick=[f"patient {i}" for i in range(80)]))
    assert_refused(run("report", "bad.csv", "-t", "sick"), "80 distinct values in 80 rows")


def test_no_features(run: Run, frame: pd.DataFrame) -> None:
    write(frame[["sick"]])
    assert_refused(run("report", "bad.csv", "-t", "sick"), "besides the target 'sick'")


def test_tiny_C(run: Run) -> None:
    assert_refused(run("report", "table.csv", "-t", "sick", *FAST, "--C", "1e-9"), "larger C")


@pytest.mark.parametrize(
    "option",
    [
        ("--C", "0"),
        ("--C", "-1"),
        ("--C", "nan"),
        ("--C", "best"),
        ("--norm-slack", "-0.1"),
        ("--loss-slack", "inf"),
        ("--loss-tol", "-1"),
        ("--formulation", "both"),
        ("--class-weight", "heavy"),
        ("--epsilon", "-1"),
        ("--epsilon", "auto"),
        ("--task", "clustering"),
        ("--cutoff", "-1"),
        ("--n-probes", "0"),
        ("--fpr", "1"),
        ("--seed", "-1"),
        ("--seed", "x"),
        ("--jobs", "0"),
    ],
)
def test_invalid_values(run: Run, option: tuple[str, str]) -> None:
    result = run("report", "table.csv", "-t", "sick", *option)
    assert_refused(result, option[0], "--help")


@pytest.mark.parametrize(
    "arguments", [["report"], ["report", "table.csv"], ["repor"], ["report", "--wrong"]]
)
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    assert_refused(run(*arguments), "--help")


@pytest.mark.parametrize("option", ["-o", "--json"])
class TestOutputs:
    def test_no_such_folder(self, run: Run, option: str) -> None:
        # The table does not exist either: outputs are looked at first, before any long work.
        assert_refused(run("report", "absent.csv", "-t", "sick", option, "no/x"), "no folder")

    def test_is_a_folder(self, run: Run, option: str) -> None:
        assert_refused(run("report", "absent.csv", "-t", "sick", option, "."), "folder")

    def test_is_the_table(self, run: Run, option: str) -> None:
        before = Path("table.csv").read_text()
        assert_refused(run("report", "table.csv", "-t", "sick", option, "./table.csv"), "itself")
        assert Path("table.csv").read_text() == before

    def test_not_writable(self, run: Run, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        assert_refused(run("report", "absent.csv", "-t", "sick", option, "x"), "permission")


def test_page_to_stdout(run: Run) -> None:
    assert_refused(run("report", "table.csv", "-t", "sick", "-o", "-"), "--json")


def test_page_and_json_in_one_file(run: Run) -> None:
    assert_refused(run("report", "table.csv", "-t", "sick", "-o", "x", "--json", "x"), "both")


def test_disk_full(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    result = run("report", "table.csv", "-t", "sick", "-o", "report.html", *FAST)
    assert_refused(result, "report.html", "No space left")


def test_what_scikit_learn_refuses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from allrelevant.cli import options

    monkeypatch.setattr(options.Number, "_accepts", lambda self, number: True)
    assert_refused(
        run("report", "table.csv", "-t", "sick", *FAST, "--norm-slack", "-1"), "'norm_slack'", "-1"
    )


def test_a_bug_shows_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from allrelevant import ClassificationBounds

    def broken(*arguments: object, **named: object) -> None:
        raise ValueError("shapes do not match")

    monkeypatch.setattr(ClassificationBounds, "fit", broken)
    result = run("report", "table.csv", "-t", "sick")
    assert isinstance(result.exception, ValueError)
    assert "Error:" not in result.stderr


def test_interrupt(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from allrelevant import ClassificationBounds

    def interrupted(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ClassificationBounds, "fit", interrupted)
    result = run("report", "table.csv", "-t", "sick", "-o", "report.html", *FAST)
    assert result.stderr.split() == ["Interrupted."]
    assert result.exit_code == 130
    assert Path("report.html").read_text() == "the earlier report"
