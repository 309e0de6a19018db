"""Tests of the HTML reports of selections."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from allrelevant import SVMRFE, ClassificationBounds, SaliencySelector
from allrelevant.datasets import make_linear_classification
from allrelevant.report import render
from allrelevant.report.selection import MAX_REPLACEMENTS, path_view
from allrelevant.results import selection_document
from allrelevant.results.selection import SelectionBounds

from .test_page import HOSTILE, Reader


def example(
    names: list[str],
    *,
    bounds: bool = True,
    small_set: bool = True,
    cutoff: float = 0.1,
    est: Any = None,
    **parameters: Any,
) -> Any:
    data = make_linear_classification(
        80, n_strong=2, n_weak=4, n_irrelevant=len(names) - 6, random_state=0
    )
    X = pd.DataFrame(data.X, columns=pd.Index(names, dtype=object))
    est = (est or SVMRFE(random_state=0, **parameters)).fit(X, data.y)
    parts = None
    if bounds:
        fitted = ClassificationBounds(C=1.0, cutoff=cutoff).fit(X, data.y)
        found = fitted.substitutes(est.get_support(indices=True).tolist())
        parts = SelectionBounds(fitted, found, fitted.cheapest() if small_set else None)
    return selection_document(
        est,
        data.y,
        task="classification",
        table="<i>table",
        target="</title>",
        settings={},
        warnings=["</aside><script>alert(2)</script>"],
        command="allrelevant select '<script>alert(3)</script>'",
        bounds=parts,
    )


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return example(HOSTILE)


def test_names_are_escaped(document: dict[str, Any]) -> None:
    page = render(document)
    read = Reader(page)
    scripts = [attributes for tag, attributes in read.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "summary"}, {}]
    assert not {"b", "i "} & {tag for tag, _ in read.tags}
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "<b>bold</b>" in read.text["bdi"]
    assert not re.search("[\x00\x1b\u202e\ud800]", page)


def test_embedded_json_is_the_document(document: dict[str, Any]) -> None:
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', render(document))
    assert json.loads(text) == document


def test_report_is_self_contained(document: dict[str, Any]) -> None:
    page = render(document)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)


@pytest.mark.parametrize("small_set", [True, False])
def test_irrelevant_features_may_be_in_the_small_set(small_set: bool) -> None:
    """With an extreme cutoff, no feature is relevant, but the small set uses some."""
    names = [f"name {j}" for j in range(8)]
    page = render(example(names, cutoff=1e6, small_set=small_set))
    assert ("the small set uses it" in page) == small_set
    assert small_set or "perhaps selected by chance" in page


def test_sections() -> None:
    names = [f"name {j}" for j in range(8)]
    complete = render(example(names))
    without_bounds = render(example(names, bounds=False))
    for heading in ("The answers side by side", "What can replace these features"):
        assert heading in complete
        assert heading not in without_bounds
    for heading in ("Score by number of features", "Table of all features", "Settings"):
        assert heading in complete
        assert heading in without_bounds
    without_scores = render(example(names, bounds=False, n_features_to_select=3))
    assert "Score by number of features" not in without_scores
    assert "Chosen in folds" not in without_scores


def test_table_lists_selected_features_first(document: dict[str, Any]) -> None:
    body = render(document).partition('<table id="features">')[2].partition("</table>")[0]
    rows = re.findall(r"<tr( class=\"selected\")?>", body)[1:]
    n_selected = document["n_selected"]
    assert [bool(row) for row in rows] == [True] * n_selected + [False] * (12 - n_selected)
    ranks = [int(rank) for rank in re.findall(r'<td class="number" data-value="(\d+)">', body)]
    assert ranks[:n_selected] == sorted(ranks[:n_selected])


def test_curve_stays_within_the_drawing(document: dict[str, Any]) -> None:
    drawn = path_view(document)
    for points in (drawn["line"], drawn["band"]):
        values = np.array([point.split(",") for point in points.split()], dtype=float)
        assert values.min() >= 0
        assert values.max() <= 100
    assert [mark["n_features"] for mark in drawn["marks"]] == list(range(12, 0, -1))
    assert drawn["marks"][0]["x"] == 100.0
    assert drawn["marks"][-1]["x"] == 0.0
    assert drawn["chosen"]["n_features"] == document["n_selected"]
    best = max(drawn["marks"], key=lambda mark: mark["score"])
    assert best["y"] == min(mark["y"] for mark in drawn["marks"])


def test_many_features_are_truncated(document: dict[str, Any]) -> None:
    row = {**document["features"][0], "selected": True}
    features = [{**row, "name": f"f{j}", "rank": j + 1} for j in range(500)]
    names = [feature["name"] for feature in features]
    wide = {**document, "features": features, "selected": names, "n_selected": 500}
    wide["table"] = {**document["table"], "n_features": 500}
    page = render(wide)
    assert "Only the first 200 of 500 features" in " ".join(page.split())
    assert f"Only the first {MAX_REPLACEMENTS} of 500 features" in " ".join(page.split())
    assert 'id="summary"' not in page


def test_wide_tables_have_a_logarithmic_axis(document: dict[str, Any]) -> None:
    subset = {"score": 0.9, "standard_error": 0.01}
    sizes = [1000, 300, 100, 10, 1]
    drawn = path_view({**document, "subsets": [{**subset, "n_features": n} for n in sizes]})
    assert drawn["is_logarithmic"]
    assert [tick["label"] for tick in drawn["size_ticks"]] == ["1", "10", "100", "1,000"]
    assert [tick["x"] for tick in drawn["size_ticks"]] == pytest.approx(
        [0, 33.33, 66.67, 100], abs=0.01
    )


def test_saliency_has_importances() -> None:
    names = [f"name {j}" for j in range(7)]
    est = SaliencySelector(SVC(kernel="linear"), random_state=0)
    page = render(example(names, bounds=False, est=est))
    assert ">Saliency</button>" in page
