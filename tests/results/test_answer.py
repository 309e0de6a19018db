"""Tests of the sentences that summarize a result: order, groups, evidence and cutoffs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant.results import bounds_document
from allrelevant.results.answer import (
    NO_EVIDENCE_WARNING,
    count_classes,
    jointly_strong_groups,
    make_answer,
    rule_phrase,
)


def feature(name: str, relevance: str, qvalue: float | None, upper: float = 1.0) -> dict[str, Any]:
    return {"name": name, "relevance": relevance, "qvalue": qvalue, "lower": 0.0, "upper": upper}


def group(*names: str, relevance: str = "strong", norm_fraction: float = 0.1) -> dict[str, Any]:
    return {"features": list(names), "relevance": relevance, "norm_fraction": norm_fraction}


def make_document(**changes: Any) -> dict[str, Any]:
    features = [
        feature("noise", "irrelevant", 0.6),
        feature("copy 1", "weak", 0.02),
        feature("needed", "strong", 0.01),
        feature("copy 2", "weak", 0.013),
        feature("extra", "weak", 0.01),
    ]
    document = {
        "table": {"name": "t.csv", "target": "y", "n_rows": 50, "n_features": 5},
        "features": features,
        "subproblems": [{"label": None}],
        "relations": {"groups": [group("needed"), group("copy 1", "copy 2"), group("extra")]},
        "sufficiency": None,
        "metric": None,
        "rule": "fdr",
        "fdr": 0.05,
        "table_pvalue": 0.002,
        "settings": {"cutoff": "fdr", "fpr": 1e-6, "n_probes": 50},
        **changes,
    }
    names = [f["relevance"] for f in document["features"]]
    classes = ("strong", "weak", "unconfirmed", "irrelevant")
    return {**document, "counts": {name: names.count(name) for name in classes}}


def test_order_of_the_findings() -> None:
    answer = make_answer(make_document())
    assert answer.lead == "Of 5 features, 1 is strong, 3 are weak and 1 is irrelevant."
    assert [(f.title, f.names) for f in answer.findings] == [
        ("strong", [["needed"]]),
        ("jointly strong", [["copy 1", "copy 2"]]),
        ("other weak", [["extra"]]),
        ("irrelevant", [["noise"]]),
    ]
    assert answer.findings[1].meaning == (
        "No single feature of this group is indispensable, but every equivalent model needs at "
        "least one of:"
    )
    assert "at most 2% (largest q-value: 0.02)" in answer.certainty
    assert "causes y" in answer.limits
    assert answer.hint == ""


def test_unconfirmed_features_are_explained_only_if_there_are_any() -> None:
    document = make_document()
    assert "unconfirmed" not in [f.title for f in make_answer(document).findings]
    document["features"].append(feature("maybe", "unconfirmed", 0.3))
    document["counts"]["unconfirmed"] = 1
    answer = make_answer(document)
    assert [f.title for f in answer.findings][-2:] == ["unconfirmed", "irrelevant"]
    finding = answer.findings[-2]
    assert finding.names == [["maybe"]]
    assert finding.meaning.startswith(
        "Every equivalent model uses it, but there is not enough evidence that it is relevant."
    )
    assert "1 is unconfirmed" in answer.lead


def test_groups_of_weak_features_only() -> None:
    groups = [
        group("needed", "copy 1"),
        group("extra", "copy 2", relevance="weak"),
        group("copy 1", "privileged"),
    ]
    assert jointly_strong_groups(make_document(relations={"groups": groups})) == []
    groups = [group("copy 1", "extra", norm_fraction=0.1), group("copy 2", "extra 2")]
    assert jointly_strong_groups(make_document(relations={"groups": groups})) == [
        ["copy 1", "extra"]
    ]


def test_groups_with_more_weight_come_first() -> None:
    features = [feature(name, "weak", 0.01) for name in "abcd"]
    groups = [group("a", "b", norm_fraction=0.1), group("c", "d", norm_fraction=0.3)]
    document = make_document(features=features, relations={"groups": groups})
    assert jointly_strong_groups(document) == [["c", "d"], ["a", "b"]]
    titles = [finding.title for finding in make_answer(document).findings]
    assert titles == ["strong", "jointly strong", "irrelevant"]


def test_sufficiency_is_stated() -> None:
    part = {
        "suffices": False,
        "relevant": ["needed", "copy 1", "copy 2", "extra"],
        "missing": ["noise"],
        "proven": True,
        "score": 0.9,
        "score_error": 0.02,
        "score_all": 0.95,
        "score_all_error": 0.01,
        "score_name": "accuracy",
        "n_features": 5,
    }
    answer = make_answer(make_document(sufficiency=part))
    assert "At least 1 further feature is needed, for example 'noise'." in answer.sufficiency
    assert "0.900 ± 0.020 with these features, 0.950 ± 0.010 with all 5" in answer.sufficiency
    assert make_answer(make_document()).sufficiency == ""


def test_hint_without_relations() -> None:
    answer = make_answer(make_document(relations=None))
    assert "--relations" in answer.hint
    assert [finding.title for finding in answer.findings] == ["strong", "weak", "irrelevant"]


def test_several_classes() -> None:
    answer = make_answer(make_document(subproblems=[{}, {}, {}]))
    assert answer.findings[0].meaning.startswith("For at least one class, every equivalent model")
    assert "but for at least one class, every" in answer.findings[1].meaning


def test_no_evidence_comes_first_and_alone() -> None:
    features = [feature("a", "irrelevant", None), feature("b", "unconfirmed", None)]
    answer = make_answer(make_document(features=features, table_pvalue=0.43, relations=None))
    assert answer.lead == (
        "There is no evidence that y depends on these 5 features (permutation test, p = 0.43). "
        "No feature is called relevant."
    )
    assert answer.findings == ()
    assert answer.certainty == answer.hint == ""


def test_no_evidence_with_a_fixed_cutoff() -> None:
    document = make_document(rule="fixed", table_pvalue=0.43, settings={"cutoff": 0.1})
    answer = make_answer(document)
    assert answer.lead.startswith("There is no evidence that y depends")
    assert "based on the cutoff alone" in answer.lead
    assert "called relevant" not in answer.lead
    assert answer.findings[0].names == [["needed"]]


def test_evidence_but_no_relevant_feature() -> None:
    features = [feature("a", "irrelevant", 0.2), feature("b", "irrelevant", 0.07)]
    answer = make_answer(make_document(features=features, relations=None))
    assert answer.lead.startswith("y depends on these 5 features as a whole")
    assert answer.certainty.startswith("The smallest q-value is 0.07")


@pytest.mark.parametrize(
    ("rule", "cutoff", "certainty", "phrase"),
    [
        ("fdr", "fdr", "largest q-value", "a q-value of at most 0.05"),
        ("probes", "fdr", "more features than rows", "(probes; more features than rows)"),
        ("probes", "probes", "nominal probability of 1e-06", "from permuted columns (probes)"),
        ("fixed", 0.1, "No error rate is controlled", "the cutoff of 0.1, set by the user"),
    ],
)
def test_rules(rule: str, cutoff: float | str, certainty: str, phrase: str) -> None:
    document = make_document(rule=rule, settings={"cutoff": cutoff, "fpr": 1e-6})
    assert certainty in make_answer(document).certainty
    assert phrase in rule_phrase(document)


@pytest.mark.parametrize(
    ("cutoff", "phrase"), [("slack", "a fixed fraction"), (0.1, "of 0.1 times")]
)
def test_rule_for_mappings(cutoff: float | str, phrase: str) -> None:
    changes: dict[str, Any] = {"metric": {"rows": []}, "settings": {"cutoff": cutoff}}
    document = make_document(rule=None, table_pvalue=None, **changes)
    assert phrase in rule_phrase(document)
    assert "every equivalent mapping" in make_answer(document).findings[0].meaning.lower()


def test_small_q_values() -> None:
    features = [feature("a", "strong", 0.0002)]
    answer = make_answer(make_document(features=features, relations=None))
    assert "below 0.1% (largest q-value: <0.001)" in answer.certainty


def test_counts() -> None:
    counts = {"strong": 0, "weak": 1200, "unconfirmed": 2, "irrelevant": 1}
    assert count_classes(counts) == (
        "none is strong, 1,200 are weak, 2 are unconfirmed and 1 is irrelevant"
    )


def test_fits_issue_the_warning_that_the_answer_repeats() -> None:
    rng = np.random.RandomState(1)
    X, y = rng.normal(size=(60, 4)), rng.randint(0, 2, 60)
    with pytest.warns(RelevanceWarning) as issued:
        est = ClassificationBounds(C=1.0, random_state=0).fit(X, y)
    assert [str(w.message).startswith(NO_EVIDENCE_WARNING) for w in issued] == [True]
    assert make_answer(bounds_document(est)).lead.startswith(
        "There is no evidence that the target depends on these 4 features"
    )
