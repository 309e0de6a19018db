"""Tests of bounds over random splits: agreement with separate fits, seeds, invalid input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from allrelevant import (
    ClassificationBounds,
    InputError,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    Stability,
    stability,
)
from allrelevant.datasets import (
    make_linear_classification,
    make_linear_regression,
    make_ordinal_classification,
    make_ranking,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 1, "random_state": 0}
DATA = make_linear_classification(80, **COUNTS)
BOUNDS = ClassificationBounds(C=0.3, cutoff=0.2)
ARRAYS = ("lower", "upper", "baseline", "relevance", "test_score")


def run(est: Any = BOUNDS, X: Any = DATA.X, y: Any = DATA.y, **options: Any) -> Stability:
    return stability(est, X, y, **{"n_splits": 4, "random_state": 0, **options})


def example(upper: list[list[float]], baseline: list[list[float]]) -> Stability:
    relevance = np.full(np.shape(upper), "weak")
    return Stability(
        feature_names=[f"x{j}" for j in range(len(upper[0]))],
        lower=np.zeros(np.shape(upper)),
        upper=np.array(upper),
        baseline=np.array(baseline),
        relevance=relevance,
        test_score=np.ones(len(upper)),
    )


def assert_same(one: Stability, other: Stability) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_equals_separate_fits() -> None:
    found = run()
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=5)[0]
    splitter = StratifiedShuffleSplit(4, test_size=0.1, random_state=int(seed))
    for k, (train, test) in enumerate(splitter.split(DATA.X, DATA.y)):
        est = ClassificationBounds(C=0.3, cutoff=0.2).fit(DATA.X[train], DATA.y[train])
        np.testing.assert_array_equal(found.lower[k], est.interval_[:, 0])
        np.testing.assert_array_equal(found.upper[k], est.interval_[:, 1])
        np.testing.assert_array_equal(found.baseline[k], np.abs(est.baseline_.coef_))
        np.testing.assert_array_equal(found.relevance[k], est.relevance_)
        assert found.test_score[k] == est.score(DATA.X[test], DATA.y[test])
    assert found.n_splits == 4


def test_rows_of_a_group_are_held_out_together() -> None:
    groups = np.arange(len(DATA.y)) // 4
    found = run(groups=groups.tolist())
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=5)[0]
    splitter = GroupShuffleSplit(4, test_size=0.1, random_state=int(seed))
    for k, (train, _) in enumerate(splitter.split(DATA.X, DATA.y, groups)):
        assert not set(groups[train]) & set(np.delete(groups, train))
        est = ClassificationBounds(C=0.3, cutoff=0.2).fit(DATA.X[train], DATA.y[train])
        np.testing.assert_array_equal(found.upper[k], est.interval_[:, 1])


def test_groups_are_aligned_if_rows_have_zero_weight() -> None:
    weight = np.ones(len(DATA.y))
    weight[:8] = 0
    groups = np.arange(len(DATA.y)) // 4
    assert_same(
        run(sample_weight=weight, groups=groups),
        run(X=DATA.X[8:], y=DATA.y[8:], sample_weight=weight[8:], groups=groups[8:]),
    )


def test_result_does_not_depend_on_n_jobs() -> None:
    est = ClassificationBounds(n_probes=12)
    assert_same(run(est, n_jobs=1), run(est, n_jobs=2))


def test_seeds() -> None:
    est = ClassificationBounds(C=0.3, n_probes=12, random_state=5)
    assert_same(run(est), run(est.set_params(random_state=6)))
    assert not np.array_equal(run(est).upper, run(est, random_state=1).upper)
    assert est.random_state == 6
    assert not hasattr(est, "interval_")


TASKS: dict[str, tuple[Any, Any]] = {
    "regression": (RegressionBounds(C=0.3, epsilon=0.1, cutoff=0.1), make_linear_regression),
    "ordinal": (OrdinalBounds(C=0.3, cutoff=0.1), make_ordinal_classification),
    "ranking": (RankingBounds(C=3.0, cutoff=0.1), make_ranking),
}


@pytest.mark.parametrize("task", TASKS)
def test_every_task(task: str) -> None:
    est, make = TASKS[task]
    data = make(80, **COUNTS)
    found = run(est, data.X, data.y)
    assert found.upper.shape == (4, 4)
    assert (found.lower <= found.upper).all()
    assert found.test_score.mean() > 0.5


def test_names_are_kept() -> None:
    names = ["a", "b", "c d", "e$"]
    for frame in (pd.DataFrame(DATA.X, columns=names), pl.DataFrame(DATA.X, schema=names)):
        found = run(X=frame, y=list(DATA.y), n_splits=2)
        assert found.feature_names == names
    assert found.to_frame().index.tolist() == names
    assert run(n_splits=2).feature_names == ["x0", "x1", "x2", "x3"]


def test_lists_and_sparse_tables() -> None:
    assert_same(run(X=DATA.X.tolist(), n_splits=2), run(n_splits=2))
    sparse = sp.csr_matrix(np.where(np.abs(DATA.X) > 0.3, DATA.X, 0.0))
    assert run(X=sparse, n_splits=2).upper.shape == (2, 4)


def test_rows_with_zero_weight_are_ignored() -> None:
    weight = np.random.RandomState(0).uniform(0.5, 2.0, 80)
    weight[::4] = 0.0
    present = weight > 0
    weighted = run(sample_weight=weight)
    assert_same(weighted, run(X=DATA.X[present], y=DATA.y[present], sample_weight=weight[present]))
    assert not np.array_equal(weighted.upper, run(X=DATA.X[present], y=DATA.y[present]).upper)


def test_ratio() -> None:
    found = example(
        upper=[[1.0, 1.0, 0.1, 0.1], [3.0, 2.0, 0.1, 0.1]],
        baseline=[[0.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 1.0]],
    )
    np.testing.assert_allclose(found.ratio, [0.5, np.inf, 1.0, 0.0])


def test_rounding_errors_do_not_count_as_variation() -> None:
    found = example(upper=[[1.0, 0.1]] * 3, baseline=[[0.5, 0.0], [0.5 + 1e-13, 0.0], [0.5, 0.0]])
    np.testing.assert_array_equal(found.ratio, [1.0, 1.0])


def test_share_and_frame() -> None:
    found = run()
    np.testing.assert_allclose(found.frequency.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.frequency[:, 0], (found.relevance == "strong").mean(axis=0))
    frame = found.to_frame()
    assert frame.index.name == "feature"
    assert frame.columns.tolist() == [
        *("lower_mean", "lower_std", "upper_mean", "upper_std", "baseline_mean", "baseline_std"),
        *("ratio", "strong", "weak", "unconfirmed", "irrelevant"),
    ]
    np.testing.assert_allclose(frame["upper_std"], pd.DataFrame(found.upper).std())
    np.testing.assert_allclose(frame["baseline_mean"], found.baseline.mean(axis=0))
    np.testing.assert_array_equal(frame["irrelevant"], found.frequency[:, 3])


def test_progress_bar(capfd: pytest.CaptureFixture[str]) -> None:
    run(BOUNDS, n_splits=2)
    assert "splits" not in capfd.readouterr().err
    run(ClassificationBounds(C=0.3, cutoff=0.2, verbose=1), n_splits=2, verbose=1)
    error = capfd.readouterr().err
    assert "splits" in error
    assert "intervals" not in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"est": LogisticRegression()}, "such as ClassificationBounds"),
        ({"est": ClassificationBounds}, "such as ClassificationBounds"),
        ({"n_splits": 1}, r"n_splits must be an integer from 2 to 10000 \(got 1\)"),
        ({"n_splits": 2.5}, "n_splits"),
        ({"test_size": 0.0}, r"between 0 and 1 \(got 0.0\)"),
        ({"test_size": 1}, "test_size"),
        ({"test_size": "0.1"}, "test_size"),
        ({"y": np.arange(80) == 0}, "cannot be split"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        run(**options)
    assert "\n" not in str(error.value)


def test_rows_must_match() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        run(y=DATA.y[1:])
