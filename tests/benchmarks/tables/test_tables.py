"""Tests of benchmark tables: stored runs, comparison of runs and generated Markdown pages."""

from __future__ import annotations

import json
from multiprocessing import Process
from pathlib import Path

import pytest

from benchmarks.tables.__main__ import PAGES, ROWS
from benchmarks.tables.agreement import compare
from benchmarks.tables.index import write_index
from benchmarks.tables.lines import lines_worse_than_paper, table_lines
from benchmarks.tables.page import NO_REASON, write_page
from benchmarks.tables.papers import TABLES
from benchmarks.tables.papers.challenge_sets import summary_line
from benchmarks.tables.papers.margin_data import make_with_margin
from benchmarks.tables.runner import pending_jobs
from benchmarks.tables.store import Store
from benchmarks.tables.table import NOT_BEST, Column, Derived, Figures, Measured, Paper, Row, Table

COST = {"seconds": 2.0, "processor_seconds": 1.5, "megabytes": 100.0}
COLUMNS = (Column("F1", "F1"), Column("error", "error", 1, "lower"))


def must_not_run(seed: int, data: Path) -> Figures:
    raise AssertionError("No row may be measured here.")


def make_table(**settings: object) -> Table:
    rows = [
        Row("bounds", must_not_run, {"F1": 0.9, "error": 3.0}, seeds=3, quick=1, is_ours=True),
        Row("lasso", must_not_run, seeds=3, quick=0, data_file="genes.npz"),
    ]
    return Table("paper_table_1", "Paper, Table 1", "About.", COLUMNS, rows, **settings)  # type: ignore[arg-type]


def make_store(folder: Path, table: Table, values: list[float], error: float = 3.0) -> Store:
    store = Store(folder)
    for seed, value in enumerate(values):
        figures = {"F1": value, "error": error}
        store.add(table, table.rows[0], seed, figures, COST, {"numpy": "2"})
    return store


def test_stored_runs_are_not_measured_again(tmp_path):
    table = make_table()
    store = make_store(tmp_path, table, [0.8, 1.0])
    assert Store(tmp_path).measured(table, table.rows[0])[1] == {"F1": 1.0, "error": 3.0}
    jobs, skipped = pending_jobs([table], store, quick=False, data=None)
    assert [(job.row.name, job.seeds) for job in jobs] == [("bounds", [2])]
    assert skipped[0].skipped == "no genes.npz in the data folder"
    assert pending_jobs([table], store, quick=True, data=None) == ([], [])


def test_tables_are_stored_in_one_file_with_sorted_keys(tmp_path):
    table = make_table()
    store = make_store(tmp_path, table, [0.8])
    store.add(table, table.rows[1], 0, {"weights": [1.0, 2.0], "F1": 0.5}, COST, {"numpy": "2"})
    (path,) = tmp_path.iterdir()
    assert path.name == "paper_table_1.json"
    content = json.loads(path.read_text())
    assert list(content) == ["bounds", "lasso"]
    assert list(content["lasso"]["runs"]["0"]["figures"]) == ["F1", "weights"]
    assert '"weights": [1.0, 2.0]\n' in path.read_text()


def add_runs(folder: Path, row: int) -> None:
    table = make_table()
    for seed in range(10):
        Store(folder).add(table, table.rows[row], seed, {"F1": 1.0}, COST, {})


def test_processes_can_add_runs_of_one_table_at_the_same_time(tmp_path):
    processes = [Process(target=add_runs, args=(tmp_path, row)) for row in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    table, store = make_table(), Store(tmp_path)
    assert all(len(store.measured(table, row)) == 10 for row in table.rows)


def test_rows_run_if_their_data_file_exists(tmp_path):
    (tmp_path / "genes.npz").touch()
    store = Store(tmp_path / "rows")
    jobs, skipped = pending_jobs([make_table()], store, quick=False, data=tmp_path)
    assert [job.row.name for job in jobs] == ["bounds", "lasso"]
    assert not skipped


def test_page_shows_mean_standard_deviation_and_paper(tmp_path):
    table = make_table()
    store = make_store(tmp_path / "rows", table, [0.8, 1.0])
    write_page(table, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert (
        "| bounds | 0.90 ± 0.14 · *0.90* | 3.0 ± 0.0 · *3.0* | 2 of 3 | 2 s | 1.5 s | 100 MB |"
        in page
    )
    assert '"n of m" means that n of m runs were measured' in page
    assert "--only paper_table_1 --data FOLDER" in page
    assert "[`paper_table_1.json`](rows/paper_table_1.json)" in page
    sentence = '"lasso" was not measured, because the data folder does not contain genes.npz.'
    assert sentence in page
    assert "worse" not in page


def test_bold_marks_the_best_value_only(tmp_path):
    table = make_table()
    store = make_store(tmp_path / "rows", table, [0.8, 1.0])
    store.add(table, table.rows[1], 0, {"F1": 0.95}, COST, {})
    write_page(table, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert "| `allrelevant`: bounds | 0.90 ± 0.14" in page
    assert "| lasso | **0.95** |" in page


@pytest.mark.parametrize(("value", "error"), [(0.8, 3.0), (0.95, 4.0)])
def test_figures_worse_than_the_paper_are_marked_and_explained(tmp_path, value, error):
    table = make_table(remarks={"bounds": "The data differ."})
    store = make_store(tmp_path / "rows", table, [value], error)
    write_page(table, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert page.count("▼") == 2  # in the cell and in the legend
    assert '- "bounds": The data differ.' in page
    write_index([Paper("paper", "Somebody (2000)", [table], [])], [], store, tmp_path)
    assert "| 1 | 1 of `allrelevant` |" in (tmp_path / "README.md").read_text()


def test_corrections_of_misprints_are_shown_and_compared(tmp_path):
    line = Derived("best", {0: {"F1": 0.8}}, {"F1": 0.99}, {"F1": 0.8}, is_ours=True)
    table = make_table(derive=lambda rows: [line])
    store = make_store(tmp_path / "rows", table, [0.9])
    write_page(table, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert "| best | 0.80 · *0.99* → *0.80* |" in page
    assert "Arrows point from misprints to their corrections." in page
    assert not lines_worse_than_paper(table, table_lines(table, store))


def test_misprints_of_sfs20_are_corrected_from_its_table_2():
    line = summary_line("dexter", "SFS best, gamma 0.975", {})
    assert (line.published["rbf"], line.published["rbf features"]) == (94.0, 7071)
    assert (line.corrected["rbf"], line.corrected["rbf features"]) == (93.7, 105)
    assert "linear" not in line.corrected
    assert not summary_line("dexter", "SFS same, gamma 0.975", {}).corrected


def test_index_lists_pages_and_omissions_by_paper(tmp_path):
    table = make_table(headline="F1")
    store = make_store(tmp_path, table, [0.8, 1.0])
    store.add(table, table.rows[1], 0, {"F1": 0.75}, COST, {})
    paper = Paper("paper", "Somebody (2000)", [table], ["Figure 1 is a diagram."])
    write_index([paper], [], store, tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert "## paper: Somebody (2000)" in page
    assert "| F1 | 0.90 (bounds) | 0.75 (lasso) | 2 | none |" in page
    assert "- Figure 1 is a diagram." in page
    assert "| method | [Paper](paper_table_1.md) |" in page
    assert "| `allrelevant`: bounds | 0.90 |\n| lasso | 0.75 |" in page


def test_difference_within_the_rounding_of_the_paper_is_not_worse(tmp_path):
    table = make_table()
    store = make_store(tmp_path, table, [0.8951])
    assert not lines_worse_than_paper(table, table_lines(table, store))


@pytest.mark.parametrize("rows_are_methods", [True, False])
def test_only_methods_on_the_same_data_have_a_best_value(tmp_path, rows_are_methods):
    column = Column("accuracy", "accuracy", 1)
    rows = [Row(name, must_not_run) for name in ("easy", "hard")]
    table = Table("tasks", "Tasks", "About.", [column], rows, rows_are_methods=rows_are_methods)
    store = Store(tmp_path / "rows")
    for row, value in zip(rows, (90.0, 60.0), strict=True):
        store.add(table, row, 0, {"accuracy": value}, COST, {})
    write_page(table, store, tmp_path)
    page = (tmp_path / "tasks.md").read_text()
    assert ("| **90.0** |" in page) == ("Bold" in page) == rows_are_methods


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (0.75, 'is 0.90. `allrelevant` reaches it with "bounds".'),
        (0.9, 'is 0.90. `allrelevant` reaches it with "bounds". "lasso" also reaches it.'),
        (0.95, 'is 0.95. "lasso" reaches it, but `allrelevant` does not. By chance.'),
    ],
)
def test_page_names_the_best_methods(tmp_path, other, expected):
    table = make_table(headline="F1", remarks={NOT_BEST: "By chance."})
    store = make_store(tmp_path / "rows", table, [0.8, 1.0])
    store.add(table, table.rows[1], 0, {"F1": other}, COST, {})
    write_page(table, store, tmp_path)
    page = (tmp_path / "paper_table_1.md").read_text()
    assert f'\nThe best value in the column "F1" {expected}\n' in page


def test_derived_lines_follow_the_measured_ones(tmp_path):
    def derive(rows: dict[str, Measured]) -> list[Derived]:
        return [Derived("best", {0: {"F1": max(run["F1"] for run in rows["bounds"].values())}})]

    table = make_table(derive=derive)
    store = make_store(tmp_path, table, [0.8, 1.0])
    assert table_lines(table, store)[-1].mean("F1") == 1.0


def test_runs_agree_within_the_standard_deviation_over_seeds(tmp_path):
    table = make_table()
    published = make_store(tmp_path / "published", table, [0.8, 0.9])
    same = compare([table], make_store(tmp_path / "same", table, [0.8]), published)
    assert (same.n_compared, same.disagreements) == (2, [])
    near = compare([table], make_store(tmp_path / "near", table, [0.85]), published)
    assert not near.disagreements
    far = compare([table], make_store(tmp_path / "far", table, [0.5]), published)
    assert [pair.key for pair in far.disagreements] == ["F1"]


def test_data_with_a_margin_have_pairs_of_copies():
    data = make_with_margin(200, 1, 2, 3, random_state=0)
    assert data.X.shape == (200, 6)
    assert data.relevance.tolist() == ["strong", "weak", "weak"] + ["irrelevant"] * 3
    ratio = data.X[:, 1] / data.X[:, 2]
    assert ratio.std() < 1e-9 * abs(ratio.mean())
    assert set(data.y.tolist()) == {-1, 1}


def test_row_names_are_unique():
    for table in TABLES.values():
        names = [row.name for row in table.rows]
        assert len(set(names)) == len(names)
        assert all(row.quick <= row.seeds for row in table.rows)


def test_stored_rows_belong_to_a_table():
    """Every row in the stored results exists in the definition of its table."""
    assert {path.stem for path in ROWS.iterdir()} == set(TABLES)
    for name, table in TABLES.items():
        content = json.loads((ROWS / f"{name}.json").read_text())
        assert set(content) <= {row.name for row in table.rows}, name


def test_published_figures_worse_than_the_paper_are_explained():
    store = Store(ROWS)
    for table in TABLES.values():
        lines = table_lines(table, store)
        assert lines, f"{table.name} was never measured"
        for line in lines_worse_than_paper(table, lines):
            assert line.name in table.remarks or "" in table.remarks, (table.name, line.name)


def test_published_pages_explain_why_no_own_method_is_best():
    for page in PAGES.glob("*.md"):
        assert NO_REASON not in page.read_text(), page.name
