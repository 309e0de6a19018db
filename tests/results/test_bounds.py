"""Tests that JSON documents of bounds are complete, valid and equal to the attributes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from allrelevant import ClassificationBounds, RankingBounds, RelevanceWarning, RiskBound
from allrelevant.datasets import make_linear_classification
from allrelevant.results import bounds_document
from allrelevant.results.document import to_json_value

Table = tuple[NDArray[np.float64], NDArray[np.int_]]


@pytest.fixture(scope="module")
def table() -> Table:
    data = make_linear_classification(
        n_samples=80, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    )
    return data.X, data.y


def test_document_is_json(table: Table) -> None:
    est = ClassificationBounds(C=1.0, cutoff=0.1, class_weight={0: 1.0, 1: np.float64(2.0)})
    est.set_params(random_state=np.random.RandomState(0))
    summary = bounds_document(est.fit(*table), *table)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["settings"]["class_weight"] == {"0": 1.0, "1": 2.0}
    assert "RandomState" in summary["seed"]


def test_document_matches_the_estimator(table: Table) -> None:
    est = ClassificationBounds(C=1.0, cutoff=0.1, random_state=3).fit(*table)
    before = datetime.now(UTC).replace(microsecond=0)
    summary = bounds_document(est, *table, table="t", target="y", warnings=["w"], command="c")
    frame = est.to_frame()
    for feature in summary["features"]:
        row = frame.loc[feature["name"]]
        expected = {key: to_json_value(value) for key, value in row.items()}
        assert {key: feature[key] for key in row.index} == expected
    assert [f["name"] for f in summary["features"]] == frame.index.tolist()
    assert sum(summary["counts"].values()) == 5
    assert summary["counts"]["strong"] == (est.relevance_ == "strong").sum()
    assert summary["training_accuracy"] == est.score(*table)
    assert summary["largest_gap"] == est.gap_.max()
    assert summary["subproblems"] == [
        {
            "label": None,
            "cutoff": {"lower": 0.1, "upper": 0.1},
            "baseline": {
                "C": 1.0,
                "norm": est.baseline_.norm_,
                "loss": est.baseline_.loss_,
            },
            "cv_accuracy": None,
        }
    ]
    assert summary["table"] == {"name": "t", "target": "y", "n_rows": 80, "n_features": 5}
    assert sum(c["n_rows"] for c in summary["classes"]) == 80
    assert summary["settings"] == est.get_params()
    assert summary["seed"] == 3
    assert summary["warnings"] == ["w"]
    assert summary["command"] == "c"
    created = datetime.fromisoformat(summary["created"])
    assert before <= created <= datetime.now(UTC)
    assert summary["created"] == created.isoformat(timespec="seconds")
    assert {"allrelevant", "python", "numpy", "scipy", "scikit-learn", "highspy"} == set(
        summary["versions"]
    )


def test_tests_of_relevance(table: Table) -> None:
    est = ClassificationBounds(C=1.0, cutoff="fdr", fdr=0.1, random_state=0).fit(*table)
    summary = json.loads(json.dumps(bounds_document(est), allow_nan=False))
    assert summary["rule"] == est.rule_ == "fdr"
    assert summary["fdr"] == 0.1
    assert summary["table_pvalue"] == est.table_pvalue_
    assert [f["qvalue"] for f in summary["features"]] == est.qvalue_.tolist()
    assert [f["pvalue"] for f in summary["features"]] == est.pvalue_.tolist()
    assert summary["privileged_rule"] is summary["privileged_table_pvalue"] is None


def test_features_without_tests_have_null(table: Table) -> None:
    X, y = table
    y = np.random.RandomState(0).permutation(y)
    with pytest.warns(RelevanceWarning, match="no evidence"):
        est = ClassificationBounds(C=1.0, cutoff="fdr", random_state=0).fit(X, y)
    summary = json.loads(json.dumps(bounds_document(est), allow_nan=False))
    assert np.isnan(est.qvalue_).all()
    assert {f["qvalue"] for f in summary["features"]} == {None}
    assert {f["pvalue"] for f in summary["features"]} == {None}
    assert summary["table_pvalue"] > 0.05
    assert summary["counts"]["strong"] + summary["counts"]["weak"] == 0


def test_rule_of_privileged_features(table: Table) -> None:
    X, y = table
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(X[:, :3], y, privileged=X[:, 3:])
    summary = bounds_document(est)
    assert (summary["rule"], summary["privileged_rule"], summary["fdr"]) == ("fixed", "fixed", None)
    assert summary["privileged_table_pvalue"] == est.privileged_table_pvalue_


def test_cross_validated_accuracy(table: Table) -> None:
    est = ClassificationBounds(cutoff=0.1, random_state=0).fit(*table)
    assert bounds_document(est)["subproblems"][0]["cv_accuracy"] == est.cv_score_


def test_without_the_table(table: Table) -> None:
    summary = bounds_document(ClassificationBounds(C=1.0, cutoff=0.1).fit(*table))
    assert summary["training_accuracy"] is None
    assert summary["table"]["n_rows"] is None
    assert summary["classes"][0]["n_rows"] is None


def test_several_classes() -> None:
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.repeat(["x", "y", "z"], 30)
    X[:30, 0] += 3
    X[30:60, 1] += 3
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, y)
    summary = bounds_document(est, X, y)
    json.dumps(summary, allow_nan=False)
    assert [subproblem["label"] for subproblem in summary["subproblems"]] == ["x", "y", "z"]
    assert len(summary["risk_bound"]) == 3
    for j, feature in enumerate(summary["features"]):
        for k, cell in enumerate(feature["per_class"]):
            assert [cell["lower"], cell["upper"]] == est.class_interval_[k, j].tolist()
            assert cell["relevance"] == est.class_relevance_[k, j]


def test_risk_bound(table: Table) -> None:
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(*table)
    bound = est.risk_bound()
    assert isinstance(bound, RiskBound)
    (numbers,) = bounds_document(est)["risk_bound"]
    assert {name: getattr(bound, name) for name in numbers} == numbers
    assert {"failure_probability", "baseline", "equivalent", "added_by_slack", "is_vacuous"} <= set(
        numbers
    )
    assert bounds_document(RankingBounds(C=1.0, cutoff=0.1).fit(*table))["risk_bound"] is None


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        bounds_document(ClassificationBounds())
