"""Tests of the documents of explained rows and of their sentences."""

from __future__ import annotations

from typing import Any

import pytest

from allrelevant.results.explanation import (
    directions,
    explained_target,
    meaning,
    position,
    row_answer,
)


def feature(name: str, percent: float, value: float = 0.0) -> dict[str, Any]:
    return {
        "name": name,
        "percent": percent,
        "saliency": 3 * percent,
        "value": value,
        "usual": [-1.0, 1.0],
    }


def explained_row(**changes: Any) -> dict[str, Any]:
    row = {
        "row": 7,
        "actual": "ill",
        "predicted": "ill",
        "target": "ill",
        "of_classes": True,
        "certainty": {"n_correct": 27, "n_similar": 30},
        "features": [feature("a", 50.0), feature("b", -30.0), feature("c", 20.0)],
    }
    return {**row, **changes}


def test_correct_prediction() -> None:
    answer = row_answer(explained_row(), "state")
    assert answer.lead == "Row 7: state is predicted to be ill."
    assert answer.comparison == "This is correct according to the table."
    assert answer.certainty == (
        "Of the 30 held-out rows predicted as ill with the most similar margin, 27 were classified "
        "correctly (90%)."
    )
    assert (
        answer.reasons == "Larger values of a and c support ill, and larger values of b oppose ill."
    )
    assert answer.unusual == ""


def test_wrong_prediction_and_other_class() -> None:
    answer = row_answer(explained_row(actual="healthy", target="healthy"), "state")
    assert answer.comparison == "This is wrong according to the table, which contains healthy."
    assert "support healthy" in answer.reasons


def test_numeric_prediction() -> None:
    row = explained_row(
        actual=141.0,
        predicted=208.31234,
        target=208.31234,
        of_classes=False,
        certainty={"error": 97.95, "fraction": 0.9, "n_rows": 441},
    )
    answer = row_answer(row, "progression")
    assert answer.lead == "Row 7: progression is predicted to be 208.3."
    assert answer.comparison == "The table contains 141."
    assert answer.certainty == (
        "90% of the 441 held-out predictions differ from the table by at most 97.95."
    )
    assert answer.reasons == (
        "Larger values of a and c raise the prediction, and larger values of b lower it."
    )
    assert explained_target(row) == "the prediction"


def test_unknown_certainty() -> None:
    answer = row_answer(explained_row(certainty={"n_correct": 0, "n_similar": 0}), "state")
    assert answer.certainty.startswith("The certainty is unknown")


def test_no_saliency() -> None:
    answer = row_answer(explained_row(features=[feature("a", 0.0)]), "state")
    assert answer.reasons == "No feature of this row affects the support for ill."


def test_unusual_values() -> None:
    features = [feature("a", 50.0, 2.0), feature("b", -30.0, -3.0), feature("c", 20.0, 1.0)]
    answer = row_answer(explained_row(features=features), "state")
    assert answer.unusual == "Unusual values: a (high); b (low)."
    assert [position(f) for f in features] == ["high", "low", "usual"]


def test_names_and_labels_are_printable() -> None:
    row = explained_row(predicted="x\x1b[31m", features=[feature("tab\t", 100.0)])
    answer = row_answer(row, "line\nbreak")
    assert answer.lead == "Row 7: line\\nbreak is predicted to be x\\x1b[31m."
    assert "tab\\t" in answer.reasons


def test_directions() -> None:
    assert directions(explained_row()) == ("support ill", "oppose ill")


@pytest.mark.parametrize(("raw", "unit"), [(False, "in percent"), (True, "gradient of the gain")])
def test_meaning_states_what_saliency_is_not(raw: bool, unit: str) -> None:
    text = meaning({"settings": {"raw": raw, "standardize": True}, "rows": [explained_row()]})
    assert unit in text
    assert "not a causal effect" in text
    assert "in standard deviations" in text
    assert text.count(".") == 1  # one sentence
    numbers = {**explained_row(), "of_classes": False}
    text = meaning({"settings": {"raw": raw, "standardize": False}, "rows": [numbers]})
    assert "raise (+) or lower (-) the prediction" in text
    assert "standard deviations" not in text
