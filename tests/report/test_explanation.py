"""Tests of the HTML reports of explained rows."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from allrelevant import explain
from allrelevant.report import render
from allrelevant.report.explanation import MAX_BARS, rows_view
from allrelevant.results import explanation_document
from allrelevant.saliency.quality import decision_margins, predict_held_out
from allrelevant.terms.columns import Frame

from .test_page import HOSTILE, Reader


def example(names: list[str], *, numbers: bool = False, raw: bool = False) -> dict[str, Any]:
    X = np.random.default_rng(0).normal(size=(60, len(names)))
    y: Any = X[:, 0] if numbers else np.where(X[:, 0] > 0, "<b>yes", "no")
    model = (SVR() if numbers else SVC()).fit(X[2:], y[2:])
    return explanation_document(
        explain(model, Frame.from_numpy(X[:2], names)),
        Frame.from_numpy(X, names),
        [1, 2],
        indices=[0, 1],
        actual=y[:2],
        margins=None if numbers else decision_margins(model, X[:2]),
        held_out=predict_held_out(model, X[2:], y[2:], seed=0),
        table="<i>table",
        target="</title>",
        model=model,
        settings={"raw": raw, "standardize": True, "random_state": 0},
        warnings=["</aside><script>alert(2)</script>"],
        command="allrelevant explain '<script>alert(3)</script>'",
    )


@pytest.mark.parametrize("numbers", [False, True])
def test_names_are_escaped(numbers: bool) -> None:
    page = render(example(HOSTILE, numbers=numbers))
    read = Reader(page)
    scripts = [attributes for tag, attributes in read.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "summary"}, {}]
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "<b>bold</b>" in read.text["bdi"]
    assert not re.search("[\x00\x1b\u202e\ud800]", page)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)


def test_embedded_json_is_the_document() -> None:
    document = example(["a", "b", "c"])
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', render(document))
    assert json.loads(text) == document


@pytest.mark.parametrize("raw", [False, True])
def test_bars_point_in_the_direction_of_the_sign(raw: bool) -> None:
    document = example(["a", "b", "c", "d"], raw=raw)
    for row, view in zip(document["rows"], rows_view(document)["rows"], strict=True):
        largest = max(abs(feature["percent"]) for feature in row["features"])
        for feature, bar in zip(row["features"], view["bars"], strict=True):
            assert bar["width"] == pytest.approx(50 * abs(feature["percent"]) / largest, abs=0.01)
            is_positive = feature["percent"] >= 0
            assert bar["kind"] == ("supports" if is_positive else "opposes")
            end = bar["left"] if is_positive else bar["left"] + bar["width"]
            assert end == pytest.approx(50.0, abs=0.01)
            unit = feature["saliency"] if raw else feature["percent"]
            text = bar["saliency"].replace("\N{MINUS SIGN}", "-").rstrip("%")
            assert float(text) == pytest.approx(unit, rel=0.1, abs=0.06)


def test_strip_shows_the_value_and_the_usual_range() -> None:
    document = example(["a", "b"])
    first = document["rows"][0]["features"][0]
    first.update(value=5.0, usual=[-1.0, 1.0])
    strip = rows_view(document)["rows"][0]["bars"][0]["strip"]
    assert strip["value"] > strip["left"] + strip["width"]
    first.update(value=0.0)
    strip = rows_view(document)["rows"][0]["bars"][0]["strip"]
    assert strip["value"] == pytest.approx(strip["left"] + strip["width"] / 2, abs=0.02)
    first.update(value=1.0, usual=[1.0, 1.0])
    assert rows_view(document)["rows"][0]["bars"][0]["strip"]["width"] == 0.0


def test_many_features_are_truncated() -> None:
    document = example([f"name {j}" for j in range(300)])
    view, _ = rows_view(document)["rows"]
    assert len(view["bars"]) == MAX_BARS
    assert view["n_hidden"] == 300 - MAX_BARS
    shown = sum(abs(f["percent"]) for f in document["rows"][0]["features"][:MAX_BARS])
    assert view["hidden_percent"] == pytest.approx(100 - shown)
    page = render(document)
    assert "270 less salient features" in page
    assert 'id="summary"' not in page


def test_sections() -> None:
    page = render(example(["a", "b"]))
    for text in ("Row 1", "Row 2", "How to read this report", "not a causal effect", "Settings"):
        assert text in page
