"""Tests of the improvement measures of Krupka (2016) on made-up and on published accuracies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.elimination_tasks import TASKS, Task, prepared
from benchmarks.tables.papers.krupka16 import (
    FILES,
    TABLE_2,
    TABLE_3,
    TABLES,
    means,
    means_and_gains,
    published,
    shape,
    verb_shape,
)
from benchmarks.tables.papers.krupka16.gains import improvement, probability
from benchmarks.tables.papers.krupka16.plot import draw_candidates, mean_figure
from benchmarks.tables.papers.krupka16.runs import measure, run_on_task, run_on_verb, verb_runner
from benchmarks.tables.papers.krupka16.setups import EB_RFE, R5, SVM_RFE, Setup
from benchmarks.tables.papers.krupka16.vps30en import VerbPatterns
from benchmarks.tables.table import Derived, Measured

# Accuracies of two tasks by setup.
INNER = {"R5": (80.0, 50.0), "EB3": (84.0, 55.0), "EB5": (84.0, 57.0)}
NESTED = {"R5": (70.0, 40.0), "EB3": (70.0, 38.0), "EB5": (63.0, 40.0)}


def invented_figures() -> dict[str, Measured]:
    """Return accuracies and subset sizes of two tasks; those of the second seed are 1 % lower."""
    names = [setup.name for setup in EB_RFE]
    measured: dict[str, Measured] = {}
    for index, task in enumerate(("leukemia", "words0")):
        figures: dict[str, float] = {}
        for name in names:
            inner = INNER.get(name, INNER["EB5"])[index]
            nested = NESTED.get(name, NESTED["EB5"])[index]
            figures |= {f"{name} inner": inner, f"{name} nested": nested}
            features = 20.0 if name == "R5" else 10.0
            figures |= {f"{name} inner features": features, f"{name} nested features": features}
        lower = {key: 0.99 * value for key, value in figures.items()}
        measured[task] = {0: figures, 1: lower}
    return measured


def line(lines: list[Derived], start: str) -> Derived:
    (match,) = [one for one in lines if one.name.startswith(start)]
    return match


def test_improvements_are_computed_from_the_means():
    lines = means_and_gains(invented_figures())
    previous, over_r5 = line(lines, "I_PREV of 2 tasks"), line(lines, "I_R5 of 2 tasks")
    assert previous.figures[0]["EB3 inner"] == pytest.approx(100 * (139 / 130 - 1))
    assert previous.figures[0]["EB5 inner"] == pytest.approx(100 * (141 / 139 - 1))
    assert over_r5.figures[0]["EB5 inner"] == pytest.approx(100 * (141 / 130 - 1))
    assert over_r5.figures[0]["EB5 nested"] == pytest.approx(100 * (103 / 110 - 1))
    assert over_r5.figures[0]["EB5 inner features"] == pytest.approx(100.0)  # half as many
    assert previous.figures[0]["EB5 inner features"] == pytest.approx(0.0)
    assert "R5 inner" not in over_r5.figures[0]
    # All figures are lower by the same factor at the second seed.
    assert over_r5.figures[1] == pytest.approx(over_r5.figures[0])


def test_means_are_over_tasks_seed_by_seed():
    mean = line(means_and_gains(invented_figures()), "mean of 2 tasks")
    assert mean.figures[0]["EB3 inner"] == 69.5
    assert mean.figures[1]["EB3 inner"] == pytest.approx(0.99 * 69.5)
    assert not mean.published


def test_probability_equals_a_t_test_of_relative_improvements():
    """The reported probability is 1 minus the p-value of a t-test of relative improvements.

    The gains are 5 and 10 %: mean 7.5, standard error 2.5, one degree of freedom.
    """
    confidence = line(means_and_gains(invented_figures()), "P(I_R5 > 0) of 2 tasks")
    assert confidence.figures[0]["EB3 inner"] == pytest.approx(100 * student.cdf(3.0, df=1))
    # Gains of 0 and -5 %: mean -2.5, standard error 2.5.
    assert confidence.figures[0]["EB3 nested"] == pytest.approx(100 * student.cdf(-1.0, df=1))


def test_probability_is_nan_without_variation():
    same = np.array([80.0, 50.0])
    assert np.isnan(probability(same, same))
    assert np.isnan(probability(same[:1], same[:1] + 1))
    rows = {"leukemia": invented_figures()["leukemia"]}
    assert line(means_and_gains(rows), "P(I_R5 > 0) of 1 task").figures[0] == {}


def column(name: str) -> np.ndarray:
    return np.array([figures[f"{name} inner"] for figures in published.VERBS.values()])


# "Best tailored" accuracies of Holub et al. (2012), verbs in the order of the thesis.
BEST_TAILORED = np.array(
    [
        *(79.7, 79.6, 82.6, 81.0, 87.4, 67.6, 53.5, 80.4, 67.7, 84.8),
        *(89.9, 59.7, 79.0, 85.4, 90.9, 72.7, 76.5, 61.7, 63.8, 90.8),
        *(77.7, 63.7, 50.6, 86.8, 62.8, 81.2, 56.6, 72.4, 77.7, 56.0),
    ]
)


# Probabilities that are legible in the available copy.
@pytest.mark.parametrize(("name", "expected"), [("R5", 34.34), ("EB12", 99.99)])
def test_probability_reproduces_the_thesis(name, expected):
    """Relative differences of accuracies reproduce the published probabilities of improvement.

    Absolute differences would give 27.4 for R5.
    """
    assert probability(BEST_TAILORED, column(name)) == pytest.approx(expected, abs=0.25)


@pytest.mark.parametrize("name", ["EB3", "EB5", "EB20"])
def test_improvement_reproduces_the_thesis(name):
    """The relative improvement of the mean accuracy reproduces that of the thesis.

    The mean of the improvements of the verbs would be 6.5 for EB20.
    """
    old, new = column("R5"), column(name)
    assert improvement(old.mean(), new.mean()) == pytest.approx(published.I_R5[name], abs=0.02)
    assert probability(old, new) == pytest.approx(published.P_R5[name], abs=0.001)


@pytest.mark.parametrize(
    ("old", "new", "percent"),
    [("R5", "EB3", 18), ("EB3", "EB5", 9), ("EB5", "EB8", 21), ("R5", "EB20", 71)],
)
def test_improvement_in_features_reproduces_the_thesis(old, new, percent):
    sizes = [published.AVERAGE[f"{name} inner features"] for name in (new, old)]
    assert round(improvement(*sizes)) == percent


@pytest.mark.parametrize("name", published.SETUPS)
def test_published_figures_have_the_published_averages(name):
    """The published values of the verbs have the published averages if no cell is omitted."""
    for key, digits in ((f"{name} inner", 2), (f"{name} inner features", 1)):
        known = [figures[key] for figures in published.VERBS.values() if key in figures]
        if len(known) < 30:
            assert len(known) == 29
            continue
        rounding = 1.0 if key.startswith("R") and digits == 1 else 1.1 * 10**-digits
        assert np.mean(known) == pytest.approx(published.AVERAGE[key], abs=rounding)


def test_published_averages_are_not_compared_with_other_data():
    lines = means(invented_figures(), SVM_RFE[-1:])
    thesis = line(lines, "mean of 30 verbs, as published")
    assert thesis.figures == {}
    assert thesis.published == {"R5 inner": 73.62, "R5 inner features": 61.6}


def test_measured_verbs_are_compared_with_the_thesis():
    rows = dict.fromkeys(published.VERBS, invented_figures()["words0"])
    mean = line(means(rows, EB_RFE), "mean of 30 verbs")
    assert mean.published["EB20 inner"] == 78.19
    fewer = {"cry": rows["cry"], "say": rows["say"]}
    assert not line(means(fewer, EB_RFE), "mean of 2 verbs").published


def test_setups_equal_those_of_the_thesis():
    assert [setup.name for setup in (*SVM_RFE, *EB_RFE[1:])] == list(published.SETUPS)
    weights = [setup.class_weight for setup in SVM_RFE]
    assert weights == [None, "cw3", "cw2", None, "cw3"]
    assert [setup.min_variance for setup in SVM_RFE] == [0.05, 0.05, 0.05, 0.02, 0.02]
    assert [len(setup.costs) for setup in SVM_RFE] == [5, 5, 5, 6, 6]
    assert [setup.n_candidates for setup in EB_RFE] == [1, 3, 5, 8, 12, 20]
    assert all(setup.costs == R5.costs and setup.class_weight == "cw3" for setup in EB_RFE)


def test_every_task_and_every_verb_has_a_row():
    for table in TABLES:
        files = {row.name: row.data_file for row in table.rows}
        assert set(files) == {*TASKS, *published.VERBS}
        assert all(files[name] == FILES.get(name, "") for name in TASKS)
        assert files["cry"] == "vps30en/cry.csv"
    assert TABLE_3.row("cry").published["EB20 inner"] == 83.6
    assert "EB20 inner" not in TABLE_2.row("cry").published


def small_task() -> Task:
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 8)) * np.arange(1, 9)
    X[:, 7] += 20 * y
    return prepared("small", X, y)


SMALL = (Setup("R5", 0.02, 4, "cw3", (1.0, 4.0)), Setup("EB3", 0.02, 4, "cw3", (1.0, 4.0), 3))


def test_task_figures_are_complete_and_reproducible():
    figures = measure(0, Path(), load=lambda _: run_on_task(small_task()), setups=SMALL)
    assert set(figures) == {
        f"{name} {kind}{what}"
        for name in ("R5", "EB3")
        for kind in ("inner", "nested")
        for what in ("", " features")
    }
    assert figures["R5 inner"] > 80
    assert all(1 <= figures[key] <= 4 for key in figures if key.endswith("features"))
    assert figures == measure(0, Path(), load=lambda _: run_on_task(small_task()), setups=SMALL)


def test_tasks_keep_the_features_with_the_largest_variance():
    task = small_task()
    assert task.n_features == 8
    np.testing.assert_array_equal(task.varying_most(2), task.X[:, 6:])


def verb(*, folds: bool) -> VerbPatterns:
    """Return data of one verb with an informative feature, a constant one and a rare pattern."""
    rng = np.random.RandomState(0)
    y = np.array(["1"] * 20 + ["4"] * 23 + ["u"] * 2)
    X = (rng.rand(45, 6) < 0.4).astype(float)
    X[:, 0], X[:, 1] = y == "1", 0.0
    return VerbPatterns(X, y, np.arange(45) % 3 if folds else None, tuple("abcdef"))


def test_verbs_are_run_on_the_folds_of_the_corpus():
    model = run_on_verb(verb(folds=True))(SMALL[0], 0)
    assert model.fold_scores_.shape[1] == 3
    assert len(model.held_out_score_.scores) == 3
    assert model.support_[0]
    assert not model.support_[1]


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_verbs_without_folds_get_nine_folds():
    model = run_on_verb(verb(folds=False))(SMALL[0], 0)
    assert model.fold_scores_.shape[1] == 9


def test_verbs_are_read_from_their_folder(tmp_path):
    table = verb(folds=True)
    assert table.fold is not None
    lines = ["pattern,fold,a,b,c,d,e,f"]
    for label, fold, row in zip(table.y, table.fold, table.X, strict=True):
        lines.append(",".join([label, str(fold), *(str(int(value)) for value in row)]))
    (tmp_path / "vps30en").mkdir()
    (tmp_path / "vps30en" / "cry.csv").write_text("\n".join(lines))
    figures = verb_shape(0, tmp_path, verb="cry")
    assert figures == {
        "rows": 45,
        "features": 6,
        "classes": 3,
        "largest": pytest.approx(51.11, 1e-3),
    }
    assert verb_runner("cry", tmp_path)(SMALL[0], 0).support_[0]


def test_shape_gives_the_percentage_of_the_largest_class():
    assert shape(np.array([0, 0, 0, 1]), 9)["largest"] == 75.0


def test_plot_shows_means_over_tasks():
    assert draw_candidates({}) is None
    rows = {name: {0: runs[0]} for name, runs in invented_figures().items()}
    assert mean_figure(rows, "EB3 inner") == 69.5
    left, right = draw_candidates(rows).axes
    assert left.lines[0].get_ydata()[:3].tolist() == [65.0, 69.5, 70.5]
    assert left.lines[1].get_ydata()[:3].tolist() == [55.0, 54.0, 51.5]
    assert right.lines[0].get_xdata().tolist() == [1, 3, 5, 8, 12, 20]
