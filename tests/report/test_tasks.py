"""Tests of documents and reports for every task, with and without privileged features."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_absolute_error_score

import allrelevant
from allrelevant.datasets import make_privileged
from allrelevant.datasets.privileged import PrivilegedGroundTruth, Task
from allrelevant.report import render
from allrelevant.results import bounds_document
from tests.report.test_page import Reader

ESTIMATORS: dict[Task, str] = {
    "classification": "ClassificationBounds",
    "regression": "RegressionBounds",
    "ordinal": "OrdinalBounds",
    "ranking": "RankingBounds",
}
# Phrases that occur only in reports of classification tasks.
CLASS_PHRASES = ["separate the classes", "rows correctly", "most frequent class", "Accuracy"]


@cache
def fitted(task: Task, *, privileged: bool, C: Any = 30.0) -> tuple[Any, PrivilegedGroundTruth]:
    data = make_privileged(
        task,
        80,
        n_strong=1,
        n_weak=2,
        n_irrelevant=2,
        n_weak_privileged=0,
        n_irrelevant_privileged=1,
        n_classes=3,
        random_state=0,
    )
    est = getattr(allrelevant, ESTIMATORS[task])(C=C, cutoff=0.1, random_state=0)
    names = ["<b>later</b>", "noise"]
    Z = pd.DataFrame(data.privileged, columns=names) if privileged else None
    return est.fit(data.X, data.y, privileged=Z), data


def example(task: Task, *, privileged: bool = False, C: Any = 30.0) -> dict[str, Any]:
    est, data = fitted(task, privileged=privileged, C=C)
    return bounds_document(est, data.X, data.y, table="t", target="y")


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]*>", "", page.partition("<body>")[2]).split())


@pytest.mark.parametrize("task", ESTIMATORS)
@pytest.mark.parametrize("privileged", [False, True])
def test_document_is_json(task: Task, privileged: bool) -> None:
    summary = example(task, privileged=privileged)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert render(json.loads(json.dumps(summary))) == render(summary)
    assert summary["task"] == task
    assert (summary["values"] is None) == (task != "regression")
    assert (summary["classes"] == []) == (task == "regression")
    assert (summary["training_accuracy"] is None) == (task != "classification")


@pytest.mark.parametrize("task", ESTIMATORS)
def test_scores(task: Task) -> None:
    est, data = fitted(task, privileged=False, C="cv")
    score = bounds_document(est, data.X, data.y)["score"]
    assert score["cross_validated"] == est.cv_score_
    expected = {
        "classification": lambda: est.score(data.X, data.y),
        "regression": lambda: d2_absolute_error_score(data.y, est.predict(data.X)),
        "ordinal": lambda: d2_absolute_error_score(data.y, est.predict(data.X)),
        "ranking": lambda: est.auc_,
    }
    assert score["training"] == pytest.approx(expected[task]())
    assert bounds_document(est)["score"]["training"] is None


def test_ordinal_score_does_not_depend_on_labels() -> None:
    est, data = fitted("ordinal", privileged=False)
    relabeled = np.array([1, 10, 100])[data.y]
    again = allrelevant.OrdinalBounds(**est.get_params()).fit(data.X, relabeled)
    score = bounds_document(again, data.X, relabeled)["score"]
    assert score == bounds_document(est, data.X, data.y)["score"]


def test_numeric_target() -> None:
    est, data = fitted("regression", privileged=False)
    summary = bounds_document(est, data.X, data.y)
    values = {"min": data.y.min(), "max": data.y.max(), "mean": data.y.mean()}
    assert summary["values"] == pytest.approx(values)
    assert summary["subproblems"][0]["baseline"]["epsilon"] == est.epsilon_
    assert bounds_document(est)["values"] is None
    render(bounds_document(est))


@pytest.mark.parametrize("task", ESTIMATORS)
def test_privileged_features_match_the_estimator(task: Task) -> None:
    est, data = fitted(task, privileged=True)
    summary = bounds_document(est, data.X, data.y)
    assert [f["name"] for f in summary["privileged"]] == ["<b>later</b>", "noise"]
    for j, feature in enumerate(summary["privileged"]):
        assert feature["relevance"] == est.privileged_relevance_[j]
        assert [feature["lower"], feature["upper"]] == est.privileged_interval_[j].tolist()
        signed = est.privileged_signed_interval_[j].tolist()
        assert [feature["signed_min"], feature["signed_max"]] == signed
        assert feature["baseline"] == est.baseline_.privileged_coef_[j]
        assert feature["exact"] == est.privileged_exact_[j]
        assert [feature["gap_lower"], feature["gap_upper"]] == est.privileged_gap_[j].tolist()
    assert summary["subproblems"][0]["privileged_cutoff"] == {"lower": 0.1, "upper": 0.1}
    assert set(summary["privileged"][0]) == set(summary["features"][0])
    assert summary["largest_gap"] == max(est.gap_.max(), est.privileged_gap_.max())


def test_privileged_features_of_several_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 3 * np.eye(3)[y]
    est = allrelevant.ClassificationBounds(C=1.0, cutoff=0.1)
    est.fit(X, y, privileged=rng.normal(size=(60, 2)))
    summary = bounds_document(est, X, y)
    weights = est.baseline_.privileged_coef_
    assert weights is not None
    assert weights.shape == (3, 2)
    for j, feature in enumerate(summary["privileged"]):
        assert abs(feature["baseline"]) == np.abs(weights[:, j]).max()
    assert [f["name"] for f in summary["privileged"]] == ["z0", "z1"]
    assert "The cutoffs of each class are in the JSON." in words(render(summary))


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("regression", ["predict the target", "from its median", "target from", "Epsilon"]),
        (
            "ordinal",
            ["predict the ordered class of each row", "median class", "from low to high 0 (27)"],
        ),
        ("ranking", ["rank the rows of class 1 above those of class 0", "AUC", "a random order"]),
        ("classification", [*CLASS_PHRASES, "classes 0 (40), 1 (40)"]),
    ],
)
def test_reports_use_the_terms_of_their_task(task: Task, expected: list[str]) -> None:
    page = words(render(example(task, C="cv")))
    for phrase in expected:
        assert phrase in page
    if task != "classification":
        for phrase in CLASS_PHRASES:
            assert phrase not in page.partition('{"format_version"')[0]
    assert "rivileged" not in page.partition("Settings")[0]


@pytest.mark.parametrize("task", ESTIMATORS)
def test_reports_show_privileged_features(task: Task) -> None:
    page = render(example(task, privileged=True))
    read = Reader(page)
    assert "Privileged features" in read.text["h2"]
    assert "<b>later</b>" in read.text["bdi"]
    assert page.count('<svg role="img" aria-labelledby=') == 2
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in read.tags:
        assert set((attributes.get("aria-labelledby") or "").split()) <= set(ids)
    assert "not used for prediction" in words(page)
    assert "over all 14 bounds" in words(page)


def test_wide_privileged_tables_note_omitted_features() -> None:
    summary = example("regression", privileged=True)
    row = summary["privileged"][0]
    summary["privileged"] = [{**row, "name": f"z{j}"} for j in range(300)]
    page = words(render(summary))
    assert "The first 60 of 300 privileged features" in page
    assert "Only the first 200 of 300 privileged features" in page
    assert 'type="application/json"' not in render(summary)


def test_task_note_is_escaped() -> None:
    est, _ = fitted("regression", privileged=False)
    page = render(bounds_document(est, task_note="Task: <script>alert(1)</script>"))
    assert "Task: &lt;script&gt;alert(1)" in page


def test_class_labels_are_escaped() -> None:
    est, data = fitted("ranking", privileged=False)
    labels = np.array(["{0.__class__}", "<b>{1}"], dtype=object)[data.y]
    again = allrelevant.RankingBounds(**est.get_params()).fit(data.X, labels)
    page = render(bounds_document(again, data.X, labels))
    assert "the rows of class {0.__class__} above those of class &lt;b&gt;{1}" in page or (
        "the rows of class &lt;b&gt;{1} above those of class {0.__class__}" in page
    )
    Reader(page)
