"""Features with several columns, compared with cold-started LPs for every direction."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from allrelevant import (
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    SurvivalBounds,
)
from allrelevant.datasets import make_privileged
from allrelevant.exceptions import InfeasibleConstraintsError, InputError
from tests.bounds import naive_tasks

TASKS = ["classification", "regression", "ordinal", "ranking", "survival"]
SLACK = {"norm_slack": 0.1, "loss_slack": 0.05, "loss_tol": 1e-3}


def mixed_frame(seed: int, n: int = 26) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a small table with all kinds of features, and a score that depends on some."""
    rng = np.random.RandomState(seed)
    levels = 2 + seed % 3
    site = rng.choice(list("abcd")[:levels], n)
    site[:levels] = list("abcd")[:levels]
    lab = rng.randn(n)
    frame = pd.DataFrame(
        {
            "number": rng.randn(n),
            "site": np.tile(site, 1),
            "lab": np.where(rng.rand(n) < 0.25, np.nan, lab),
            "kind": rng.choice(["x", "y", "z"], n),
        }
    )
    effect = np.array([{"a": -1.0, "b": 1.0, "c": 0.5, "d": 0.0}[s] for s in site])
    return frame, frame["number"].to_numpy() + effect + lab + 0.3 * rng.randn(n)


def naive_columns(frame: pd.DataFrame, n_bins: Any) -> tuple[np.ndarray, list[Any]]:
    """Encode and scale a table column by column; return it with the directions of each feature."""
    parts: list[np.ndarray] = []
    directions: list[np.ndarray] = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind == "f" and n_bins is None:
            values = column.to_numpy()
            missing = np.isnan(values)
            values = np.where(missing, np.nanmedian(values), values)
            block = [(values - values.mean()) / values.std()]
            if missing.any():
                block.append((missing - missing.mean()) / missing.std())
            signs = list(product((1.0, -1.0), repeat=len(block)))
            parts.append(np.column_stack(block))
            directions.append(np.array(signs))
            continue
        if column.dtype.kind == "f":
            values = column.to_numpy()
            edges = np.nanquantile(values, np.arange(1, n_bins) / n_bins)
            words = np.array(
                ["missing" if np.isnan(v) else str((v >= edges).sum()) for v in values]
            )
        else:
            words = column.to_numpy()
        levels = np.unique(words)
        indicators = (words[:, None] == levels).astype(float)
        p = indicators.mean(axis=0)
        parts.append((indicators - p) / np.sqrt((p * (1 - p)).sum() / 2))
        unit = np.eye(len(levels))
        directions.append(np.array([unit[a] - unit[b] for a, b in permutations(range(len(p)), 2)]))
    return np.hstack(parts), directions


def naive_set(rows, slack_weight, baseline):
    """Return the constraints ``A v <= b`` and bounds of the models equivalent to a baseline.

    The variables v are the absolute weights, the weights, the offsets and the slack variables.
    """
    d, k, m = len(rows[0][0]), len(rows[0][1]), len(slack_weight)
    A, b = naive_tasks._inequalities(rows, d, k, m)
    norm = np.r_[np.ones(d), np.zeros(d + k + m)]
    loss = np.r_[np.zeros(2 * d + k), slack_weight]
    norm_limit = (1.0 + SLACK["norm_slack"]) * baseline.norm_
    loss_limit = (1.0 + SLACK["loss_slack"]) * baseline.loss_ + SLACK["loss_tol"]
    A, b = np.vstack([A, norm, loss]), np.r_[b, norm_limit, loss_limit]
    free, positive = (None, None), (0, None)
    return A, b, [positive] * d + [free] * (d + k) + [positive] * m


def naive_intervals(rows, slack_weight, baseline, directions):
    """Return the smallest and the largest size of each feature, each from cold-started LPs."""
    A, b, bounds = naive_set(rows, slack_weight, baseline)
    d = len(rows[0][0])
    intervals, start = [], d
    for V in directions:
        block = slice(start, start + V.shape[1])
        start += V.shape[1]
        largest = 0.0
        for v in V:
            cost = np.zeros(A.shape[1])
            cost[block] = -v
            largest = max(largest, -linprog(cost, A_ub=A, b_ub=b, bounds=bounds).fun)
        intervals.append([naive_smallest(A, b, bounds, block, V), largest])
    return np.array(intervals)


def naive_smallest(A, b, bounds, block, V):
    """Return the smallest size of the weights in a slice, given their directions V, from one LP."""
    sizes = np.zeros((len(V), A.shape[1] + 1))
    sizes[:, block], sizes[:, -1] = V, -1.0
    return linprog(
        np.r_[np.zeros(A.shape[1]), 1.0],
        A_ub=np.vstack([np.column_stack([A, np.zeros(len(A))]), sizes]),
        b_ub=np.r_[b, np.zeros(len(V))],
        bounds=[*bounds, (0, None)],
    ).fun


def task(name: str, score: np.ndarray, table: np.ndarray, weight: np.ndarray):
    """Return estimator class, target and naive constraints of a task."""
    if name == "regression":
        y = (score - score.mean()) / score.std()
        return RegressionBounds(epsilon=0.1), y, naive_tasks.regression(table, y, weight, 0.1)
    if name == "survival":
        time = np.exp(-(score - score.mean()) / score.std()).round(1)
        event = np.random.RandomState(len(score)).uniform(size=len(score)) > 0.3
        rows = naive_tasks.survival(table, event, time, weight)
        return SurvivalBounds(), np.column_stack([event, time]), rows
    if name == "ordinal":
        y = np.digitize(score, np.quantile(score, [0.33, 0.67])).astype(float)
        return OrdinalBounds(), y, naive_tasks.ordinal(table, y, weight)
    y = np.where(score > np.median(score), 1.0, -1.0)
    if name == "ranking":
        return RankingBounds(), y, naive_tasks.ranking(table, y, weight)
    margins: list[Any] = [
        (s * x, [s], 1.0, i) for i, (x, s) in enumerate(zip(table, y, strict=True))
    ]
    return ClassificationBounds(), y, (margins, weight)


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
@pytest.mark.parametrize("curves", [None, 3])
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_intervals_agree_with_cold_programs(name, curves, seed):
    """Bounds equal those of cold-started LPs, and their witnesses and certificates prove them."""
    frame, score = mixed_frame(seed)
    table, directions = naive_columns(frame, curves)
    weight = np.ones(len(frame))
    est, y, (rows, slack_weight) = task(name, score, table, weight)
    C = 5.0 if name in ("ranking", "survival") else 0.5
    est.set_params(C=C, cutoff=0.1, curves=curves, **SLACK).fit(frame, y)
    model = est.baseline_
    assert model.norm_ > 0.1
    expected = naive_intervals(rows, slack_weight, model, directions)
    np.testing.assert_allclose(est.interval_, expected, atol=1e-6 * max(1.0, model.norm_))
    assert est.gap_.max() <= 1e-6 * max(1.0, model.norm_)
    assert est.exact_.all()
    layout, subproblem = est._layout, est._result.subproblems[0]
    for feature in range(frame.shape[1]):
        for side, bound in enumerate(("lower", "upper")):
            witness = est.witness(feature, bound)
            size = layout.sizes(witness.coef_)[feature]
            assert size == pytest.approx(est.interval_[feature, side], abs=1e-6)
            assert np.abs(witness.coef_).sum() <= 1.1 * model.norm_ * (1 + 1e-7)
            assert witness.loss_ <= 1.05 * model.loss_ + 1e-3 + 1e-6
            assert np.isfinite(witness.decision_function(frame)).all()
    assert subproblem.interval.shape == (frame.shape[1], 2)


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_the_smallest_size_of_a_category_with_many_levels_is_exact():
    """The search takes many steps if no equivalent model gets by without the category."""
    rng = np.random.RandomState(0)
    codes = rng.randint(25, size=250)
    frame = pd.DataFrame(rng.normal(size=(250, 8))).add_prefix("x")
    score = 2.0 * frame["x0"].to_numpy() + 1.5 * rng.normal(size=25)[codes]
    frame["site"] = [f"s{code:02}" for code in codes]
    table, directions = naive_columns(frame, None)
    noisy = score + rng.logistic(size=250)
    est, y, (rows, slack_weight) = task("classification", noisy, table, np.ones(250))
    est.set_params(C=0.1, cutoff=0.1, **SLACK).fit(frame, y)
    A, b, bounds = naive_set(rows, slack_weight, est.baseline_)
    smallest = naive_smallest(A, b, bounds, slice(41, 66), directions[8])
    assert est.interval_[8, 0] == pytest.approx(smallest, abs=1e-6 * est.baseline_.norm_)
    assert smallest > 0.01
    assert est.gap_.max() <= 1e-6 * est.baseline_.norm_


@pytest.mark.parametrize("formulation", ["separate", "joint"])
def test_a_binary_category_is_the_same_feature_in_all_forms(formulation):
    """Text, 0/1 and two indicator columns declared as one feature have the same interval."""
    frame, score = mixed_frame(2, n=60)
    y = score > 0
    sex = np.random.RandomState(0).choice(["f", "m"], 60)
    rest = frame[["number", "site"]]
    codes = (sex == "m").astype(float)
    settings: dict[str, Any] = {"C": 0.5, "cutoff": 0.1, "formulation": formulation}
    text = ClassificationBounds(**settings).fit(rest.assign(sex=sex), y)
    number = ClassificationBounds(**settings).fit(rest.assign(sex=codes), y)
    coded = ClassificationBounds(**settings, categorical=["sex"]).fit(
        rest.assign(sex=codes + 1.0), y
    )
    two = ClassificationBounds(**settings, terms={"sex": ["f", "m"]}).fit(
        rest.assign(f=1.0 - codes, m=codes), y
    )
    for other in (number, coded, two):
        np.testing.assert_allclose(other.interval_, text.interval_, atol=1e-8)
    assert two.get_support().shape == (4,)
    assert two.to_frame().index.tolist() == ["number", "site", "sex"]


def fitted() -> tuple[ClassificationBounds, pd.DataFrame, np.ndarray]:
    frame, score = mixed_frame(1, n=80)
    frame["copy"] = frame["site"].map({"a": "A", "b": "B", "c": "C", "d": "D"})
    y = score > 0
    return ClassificationBounds(C=0.3, cutoff=0.2).fit(frame, y), frame, y


def test_analyses_treat_a_category_as_a_whole():
    est, frame, _ = fitted()
    site, copy = 1, 4
    np.testing.assert_allclose(est.interval_[site], est.interval_[copy], atol=1e-7)
    assert est.interval_[site, 0] == 0
    without = est.what_if({"copy": "drop"})
    assert without.interval_[copy].tolist() == [0.0, 0.0]
    assert without.interval_[site, 0] > 0.1
    limited = est.what_if({"site": (None, 0.1)})
    assert limited.interval_[site, 1] == pytest.approx(0.1, abs=1e-7)
    raised = est.what_if({"site": (0.2, None)})
    assert raised.interval_[site, 0] == pytest.approx(0.2, abs=1e-7)
    assert est.relations().kind(site, copy) == "substitutes"
    (cheapest,) = est.cheapest(held_out_score=False)
    assert len({"site", "copy"} & set(cheapest.features)) == 1
    assert cheapest.cost == len(cheapest.features)
    assert est.transform(frame).shape[1] == est.get_support().sum()


def test_the_relaxation_of_a_size_is_the_distance_to_its_smallest_value():
    frame, score = mixed_frame(1, n=80)
    est = ClassificationBounds(C=0.3, cutoff=0.2).fit(frame, score > 0)
    smallest = est.interval_[1, 0]
    assert smallest > 0.2
    for limit in ("drop", (None, 0.1)):
        with pytest.raises(InfeasibleConstraintsError) as caught:
            est.what_if({"site": limit})
        (relaxation,) = caught.value.relaxations
        expected = smallest - (0.0 if limit == "drop" else 0.1)
        assert relaxation == pytest.approx(expected, rel=1e-3)


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
@pytest.mark.parametrize("name", ["ranking", "survival"])
def test_limits_on_categories_with_many_pairs(name, monkeypatch):
    """Limits on sizes have the same effect if the pairs are described by cutting planes."""
    frame, score = mixed_frame(1, n=40)
    est, y, _ = task(name, score, np.zeros((40, 1)), np.ones(40))
    est.set_params(C=20.0, cutoff=0.2, random_state=0)
    est.fit(frame, y)
    middle = est.interval_[1].mean()
    limits = [{"site": (None, middle)}, {"site": (middle, None)}]
    expected = np.array([est.what_if(limit).interval_ for limit in limits])
    assert np.abs(expected - est.interval_).max(axis=(1, 2)).min() > 0.01
    monkeypatch.setattr("allrelevant.bounds.pairs.MAX_LISTED_PAIRS", 10)
    est.fit(frame, y)
    results = [est.what_if(limit) for limit in limits]
    for part, interval in zip(results, expected, strict=True):
        assert (np.abs(part.interval_ - interval) <= part.gap_ + 1e-6).all()
        assert part.gap_.max() < 0.01 * est.baseline_.norm_


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_no_relevant_feature_with_many_pairs(monkeypatch):
    monkeypatch.setattr("allrelevant.bounds.pairs.MAX_LISTED_PAIRS", 10)
    frame, score = mixed_frame(2, n=60)
    est = RankingBounds(C=20.0, cutoff=99.0, random_state=0).fit(frame, score > 0)
    answer = est.sufficiency(max_seconds=0.5)
    assert answer.score == pytest.approx(0.5)
    assert len(answer.missing) > 0


def test_signed_constraints_require_a_single_weight():
    est, _, _ = fitted()
    with pytest.raises(InputError, match="'site' has several"):
        est.what_if({"site": (0.1, None)}, signed=True)


def test_new_rows_may_have_unknown_levels_and_missing_values():
    est, frame, y = fitted()
    new = frame.head(4).copy()
    new.loc[0, "site"] = "elsewhere"
    new.loc[1, "number"] = np.nan
    new.loc[2, "kind"] = None
    assert np.isfinite(est.decision_function(new)).all()
    np.testing.assert_array_equal(est.predict(frame.iloc[::-1])[::-1], est.predict(frame))
    assert est.score(frame, y) > 0.7


def test_a_permuted_category_with_many_levels_is_irrelevant():
    rng = np.random.RandomState(4)
    frame, score = mixed_frame(0, n=200)
    frame["noise"] = rng.choice(list("uvwxyz"), 200)
    est = ClassificationBounds(random_state=0).fit(frame, score > 0)
    names = est.to_frame()["relevance"]
    assert names["noise"] == "irrelevant"
    assert {names["number"], names["site"], names["lab"]} <= {"strong", "weak"}


def samples_of_rows(name: str, y: np.ndarray) -> list[int | None]:
    """Return the sample of each naive constraint; None for the order of thresholds."""
    n, top = len(y), y.max()
    if name == "regression":
        return [i for i in range(n) for _ in range(2)]
    if name == "ordinal":
        own = [i for i in range(n) for _ in range(int(y[i] < top) + int(y[i] > 0))]
        return [*own, *[None] * int(top - 1)]
    return list(range(n))


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
@pytest.mark.parametrize("name", ["classification", "regression", "ordinal", "ranking"])
@pytest.mark.parametrize("with_words", [False, True])
def test_privileged_intervals_agree_with_cold_programs(name, with_words):
    """Categories and missing values are privileged features like others, in all tasks."""
    frame, score = mixed_frame(1)
    second = mixed_frame(2)[0].drop(columns="number")
    second["lab"] = np.where(second["lab"].isna(), np.nan, np.abs(score))
    X = frame if with_words else pd.DataFrame({"number": frame["number"], "hint": np.cbrt(score)})
    table, directions = naive_columns(X, None)
    Z, privileged_directions = naive_columns(second, None)
    weight = np.ones(len(frame))
    est, y, (rows, slack_weight) = task(name, score, table, weight)
    if name == "ranking":
        rows, slack_weight = naive_tasks.explained_ranking(table, y, Z, weight)
    else:
        rows, slack_weight = naive_tasks.explained(rows, samples_of_rows(name, y), Z, weight)
    C = 20.0 if name == "ranking" else 2.0
    est.set_params(C=C, cutoff=0.1, **SLACK).fit(X, y, privileged=second)
    model = est.baseline_
    assert model.norm_ > 0.1
    expected = naive_intervals(rows, slack_weight, model, [*directions, *privileged_directions])
    found = np.vstack([est.interval_, est.privileged_interval_])
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, model.norm_))
    assert est.to_frame(privileged=True).index.tolist() == ["site", "lab", "kind"]
    assert est.predict(X).shape == y.shape


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_a_privileged_category_of_two_levels_is_a_number():
    frame, score = mixed_frame(1, n=60)
    sex = np.random.RandomState(0).choice(["f", "m"], 60)
    settings: Any = {"C": 2.0, "random_state": 0}
    text, number = (
        ClassificationBounds(**settings).fit(
            frame[["number"]], score > 0, privileged=pd.DataFrame({"sex": values, "z": score})
        )
        for values in (sex, (sex == "m").astype(float))
    )
    np.testing.assert_allclose(text.privileged_interval_, number.privileged_interval_, atol=1e-8)
    np.testing.assert_allclose(text.privileged_qvalue_, number.privileged_qvalue_)


def test_privileged_noise_categories_are_irrelevant():
    data = make_privileged(
        "classification",
        150,
        n_strong=2,
        n_weak=0,
        n_irrelevant=1,
        n_strong_privileged=1,
        n_weak_privileged=0,
        n_irrelevant_privileged=0,
        random_state=0,
    )
    rng = np.random.RandomState(0)
    privileged = pd.DataFrame(
        {
            "strong": data.privileged[:, 0],
            "noise": rng.choice(list("abcd"), 150),
            "lab": np.where(rng.rand(150) < 0.2, np.nan, rng.normal(size=150)),
        }
    )
    est = ClassificationBounds(random_state=0).fit(data.X, data.y, privileged=privileged)
    assert est.relevance_.tolist() == data.relevance.tolist()
    assert est.privileged_relevance_.tolist() == ["strong", "irrelevant", "irrelevant"]
    assert est.what_if({"noise": "drop"}).privileged_interval_[1, 1] == pytest.approx(0.0)
