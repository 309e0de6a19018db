"""The section of a path: its values, its drawing, its place in the page."""

import json

import numpy as np
import pytest

from allrelevant import ClassificationBounds, bounds_path
from allrelevant.datasets import make_linear_classification
from allrelevant.report import render
from allrelevant.report.sections import MAX_PANELS, path_panels
from allrelevant.results import bounds_document


@pytest.fixture(scope="module")
def fitted():
    data = make_linear_classification(
        80, n_strong=1, n_weak=2, n_irrelevant=2, flip=0.1, random_state=0
    )
    bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
    return bounds, data, bounds_path(bounds, data.X, data.y, values=[0.01, 0.1, 1.0, 10.0])


def test_the_summary_holds_the_path_and_survives_json(fitted):
    bounds, data, path = fitted
    summary = json.loads(json.dumps(bounds_document(bounds, data.X, data.y, path=path)))
    assert summary["path"]["param"] == "C"
    feature = summary["path"]["features"][1]
    np.testing.assert_allclose(feature["upper"], path.interval[:, 1, 1])
    assert feature["relevance"] == path.relevance[:, 1].tolist()
    first, last = feature["ranges"][0]["first"], feature["ranges"][-1]["last"]
    assert (first, last) == (0.01, 10.0)
    assert "How this changes with C" in render(summary)


def test_without_a_path_there_is_no_section(fitted):
    bounds, data, _ = fitted
    summary = bounds_document(bounds, data.X, data.y)
    assert summary["path"] is None
    assert "How this changes" not in render(summary)


def test_bands_stay_within_their_panel(fitted):
    drawn = path_panels(fitted[2].to_dict(), [f"x{j}" for j in range(5)])
    for panel in drawn["panels"]:
        for band in panel.bands:
            points = np.array([point.split(",") for point in band.points.split()], dtype=float)
            assert points.min() >= 0
            assert points[:, 0].max() <= drawn["width"]
            assert points[:, 1].max() <= drawn["height"]


def test_of_very_many_features_the_first_are_drawn(fitted):
    path = fitted[2].to_dict()
    path["features"] = [{**path["features"][0], "name": f"f{j}"} for j in range(100)]
    drawn = path_panels(path, [f"f{j}" for j in range(100)])
    assert len(drawn["panels"]) == MAX_PANELS
    assert drawn["n_features"] == 100


def test_names_are_escaped(fitted):
    bounds, data, path = fitted
    summary = bounds_document(bounds, data.X, data.y, path=path)
    for part in (summary["features"], summary["path"]["features"]):
        part[0]["name"] = "<script>alert(1)</script>"
    assert "<script>alert" not in render(summary)
