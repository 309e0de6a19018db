"""The harness of the papers' tables, on tables that take no time."""

from __future__ import annotations

import json
from multiprocessing import Process
from pathlib import Path

import pytest

from benchmarks.tables.__main__ import PAGES, ROWS
from benchmarks.tables.agreement import compare
from benchmarks.tables.index import write_index
from benchmarks.tables.lines import lines_of, short_lines
from benchmarks.tables.page import write_page
from benchmarks.tables.papers import TABLES
from benchmarks.tables.runner import jobs_left
from benchmarks.tables.store import Store
from benchmarks.tables.table import NOT_FIRST, Column, Derived, Figures, Measured, Row, Table

COST = {"seconds": 2.0, "processor_seconds": 1.5, "megabytes": 100.0}
COLUMNS = (Column("F1", "F1"), Column("error", "error", 1, "lower"))


def unmeasured(seed: int, data: Path) -> Figures:
    raise AssertionError("nothing is to be measured here")


def table(**settings: object) -> Table:
    rows = [
        Row("ours", unmeasured, {"F1": 0.9, "error": 3.0}, seeds=3, quick=1, ours=True),
        Row("another one", unmeasured, seeds=3, quick=0, needs="genes.npz"),
    ]
    return Table("paper_table_1", "Paper, Table 1", "About.", COLUMNS, rows, **settings)  # type: ignore[arg-type]


def filled(folder: Path, one: Table, values: list[float], error: float = 3.0) -> Store:
    store = Store(folder)
    for seed, value in enumerate(values):
        figures = {"F1": value, "error": error}
        store.add(one, one.rows[0], seed, figures, COST, {"numpy": "2"})
    return store


def test_what_is_measured_is_kept_and_not_measured_again(tmp_path):
    one = table()
    store = filled(tmp_path, one, [0.8, 1.0])
    assert Store(tmp_path).measured(one, one.rows[0])[1] == {"F1": 1.0, "error": 3.0}
    jobs, skipped = jobs_left([one], store, quick=False, data=None)
    assert [(job.row.name, job.seeds) for job in jobs] == [("ours", [2])]
    assert skipped[0].skipped == "no genes.npz in the data folder"
    assert jobs_left([one], store, quick=True, data=None) == ([], [])


def test_tables_are_stored_in_one_file_with_sorted_keys(tmp_path):
    one = table()
    store = filled(tmp_path, one, [0.8])
    store.add(one, one.rows[1], 0, {"weights": [1.0, 2.0], "F1": 0.5}, COST, {"numpy": "2"})
    (path,) = tmp_path.iterdir()
    assert path.name == "paper_table_1.json"
    content = json.loads(path.read_text())
    assert list(content) == ["another one", "ours"]
    assert list(content["another one"]["runs"]["0"]["figures"]) == ["F1", "weights"]
    assert '"weights": [1.0, 2.0]\n' in path.read_text()


def add_runs(folder: Path, n_row: int) -> None:
    one = table()
    for seed in range(10):
        Store(folder).add(one, one.rows[n_row], seed, {"F1": 1.0}, COST, {})


def test_processes_can_add_runs_of_one_table_at_the_same_time(tmp_path):
    processes = [Process(target=add_runs, args=(tmp_path, n_row)) for n_row in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    one, store = table(), Store(tmp_path)
    assert all(len(store.measured(one, row)) == 10 for row in one.rows)


def test_rows_need_their_file(tmp_path):
    (tmp_path / "genes.npz").touch()
    jobs, skipped = jobs_left([table()], Store(tmp_path / "rows"), quick=False, data=tmp_path)
    assert [job.row.name for job in jobs] == ["ours", "another one"]
    assert not skipped


def test_page_shows_mean_spread_and_the_papers_figure(tmp_path):
    one = table()
    store = filled(tmp_path / "rows", one, [0.8, 1.0])
    write_page(one, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert (
        "| **ours** | 0.90 ± 0.14 · *0.90* | 3.0 ± 0.0 · *3.0* | 2 of 3 | 2 s | 1.5 s | 100 MB |"
        in page
    )
    assert "--only paper_table_1 --data FOLDER" in page
    assert "Not measured: another one (they need genes.npz in the data folder)." in page
    assert "short" not in page


@pytest.mark.parametrize(("value", "error"), [(0.8, 3.0), (0.95, 4.0)])
def test_what_fell_short_is_marked_and_explained(tmp_path, value, error):
    one = table(remarks={"ours": "it rained."})
    store = filled(tmp_path / "rows", one, [value], error)
    write_page(one, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert page.count("▼") == 2  # the cell, and what the mark means
    assert "- **ours**: it rained." in page
    write_index([one], store, tmp_path)
    assert "| 1 | 1 of ours |" in (tmp_path / "README.md").read_text()


def test_first_page_compares_our_best_with_others(tmp_path):
    one = table(headline="F1")
    store = filled(tmp_path, one, [0.8, 1.0])
    store.add(one, one.rows[1], 0, {"F1": 0.75}, COST, {})
    write_index([one], store, tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert "| F1 | 0.90 (ours) | 0.75 (another one) | 2 | none |" in page
    assert "| method | [Paper](paper_table_1.md) |" in page
    assert "| **ours** | 0.90 |\n| another one | 0.75 |" in page


def test_rounding_of_the_paper_is_not_falling_short(tmp_path):
    one = table()
    store = filled(tmp_path, one, [0.8951])
    assert not short_lines(one, lines_of(one, store))


@pytest.mark.parametrize("same_data", [True, False])
def test_rows_that_are_tasks_have_no_best_one(tmp_path, same_data):
    column = Column("accuracy", "accuracy", 1)
    rows = [Row(name, unmeasured) for name in ("easy", "hard")]
    one = Table("tasks", "Tasks", "About.", [column], rows, same_data=same_data)
    store = Store(tmp_path / "rows")
    for row, value in zip(rows, (90.0, 60.0), strict=True):
        store.add(one, row, 0, {"accuracy": value}, COST, {})
    write_page(one, store, tmp_path)
    page = (tmp_path / "tasks.md").read_text()
    assert ("| **90.0** |" in page) == ("Bold" in page) == same_data


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (0.75, "First in F1, at 0.90: ours."),
        (0.9, "First in F1, at 0.90: ours, another one."),
        (0.95, "First in F1, at 0.95: another one. Ours is not: it rained."),
    ],
)
def test_page_says_who_is_first_and_why_not_ours(tmp_path, other, said):
    one = table(headline="F1", remarks={NOT_FIRST: "it rained."})
    store = filled(tmp_path / "rows", one, [0.8, 1.0])
    store.add(one, one.rows[1], 0, {"F1": other}, COST, {})
    write_page(one, store, tmp_path)
    assert f"\n{said}\n" in (tmp_path / "paper_table_1.md").read_text()


def test_derived_lines(tmp_path):
    def derive(rows: dict[str, Measured]) -> list[Derived]:
        return [Derived("best", {0: {"F1": max(run["F1"] for run in rows["ours"].values())}})]

    one = table(derive=derive)
    store = filled(tmp_path, one, [0.8, 1.0])
    assert lines_of(one, store)[-1].mean("F1") == 1.0


def test_agreement_is_seed_by_seed_within_the_spread(tmp_path):
    one = table()
    published = filled(tmp_path / "published", one, [0.8, 0.9])
    same = compare([one], filled(tmp_path / "same", one, [0.8]), published)
    assert (same.n_compared, same.disagreements) == (2, [])
    near = compare([one], filled(tmp_path / "near", one, [0.85]), published)
    assert not near.disagreements
    far = compare([one], filled(tmp_path / "far", one, [0.5]), published)
    assert [one.key for one in far.disagreements] == ["F1"]


def test_row_names_are_unique():
    for one in TABLES.values():
        names = [row.name for row in one.rows]
        assert len(set(names)) == len(names)
        assert all(row.quick <= row.seeds for row in one.rows)


def test_published_results_are_explained():
    """Every row of the published pages that fell short has its reason."""
    store = Store(ROWS)
    for one in TABLES.values():
        lines = lines_of(one, store)
        assert lines, f"{one.name} was never measured"
        for line in short_lines(one, lines):
            assert line.name in one.remarks or "" in one.remarks, (one.name, line.name)


def test_published_results_say_why_ours_is_not_first():
    for page in PAGES.glob("*.md"):
        assert "Ours is not: not explained." not in page.read_text(), page.name
