"""The sections on relations and on the cheapest models."""

import json

import pytest

from allrelevant import ClassificationBounds
from allrelevant.datasets import make_linear_classification
from allrelevant.report import render
from allrelevant.report.sections import MAX_FEATURES, design_drawing, relations_drawing
from allrelevant.results import bounds_document


@pytest.fixture(scope="module")
def summary():
    data = make_linear_classification(80, n_strong=1, n_weak=4, n_irrelevant=1, random_state=0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    return bounds_document(
        bounds,
        data.X,
        data.y,
        relations=bounds.relations(),
        design=bounds.cheapest(n_solutions=3),
    )


def test_the_summary_survives_json(summary):
    again = json.loads(json.dumps(summary))
    assert again["relations"]["groups"][1]["features"] == ["x1", "x2"]
    assert len(again["design"]["models"]) == 3
    assert render(again) == render(summary)


def test_the_page_has_both_sections(summary):
    page = render(summary)
    assert "What replaces what" in page
    assert "The cheapest equally good models" in page


def test_without_them_there_are_no_sections(summary):
    page = render({**summary, "relations": None, "design": None})
    assert "What replaces what" not in page
    assert "The cheapest equally good models" not in page


def test_drawings_stay_within_their_frames(summary):
    drawn = relations_drawing(summary["relations"])
    assert all(
        0 <= cell.x < drawn["size"] and 0 <= cell.y < drawn["size"] for cell in drawn["cells"]
    )
    assert all(0 <= cell.strength <= 1 for cell in drawn["cells"])
    names = {node.name for node in drawn["nodes"]}
    assert names == set(summary["relations"]["features"])
    assert drawn["links"]
    costs = design_drawing(summary["design"])
    for mark in [*costs["marks"], costs["baseline"]]:
        assert 0 <= mark["x"] <= costs["width"]
        assert 0 <= mark["y"] <= costs["height"]


def test_of_very_many_features_the_first_are_drawn_and_said_to_be(summary):
    names = [f"f{j}" for j in range(100)]
    many = {
        **summary["relations"],
        "features": names,
        "matrix": [[-0.9] * 100 for _ in names],
    }
    drawn = relations_drawing(many)
    assert len(drawn["names"]) == MAX_FEATURES
    assert "of 100 relevant" in " ".join(render({**summary, "relations": many}).split())


def test_names_are_escaped(summary):
    bad = "<script>alert(1)</script>"
    broken = json.loads(json.dumps(summary).replace('"x1"', json.dumps(bad)))
    assert "<script>alert" not in render(broken)


def test_a_set_that_is_not_proven_says_so(summary):
    design = json.loads(json.dumps(summary["design"]))
    design["models"][-1].update(proven=False, gap=2.0)
    assert "at most 2 above the cheapest" in render({**summary, "design": design})
