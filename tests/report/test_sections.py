"""Tests of the sections of the HTML report: values, drawings and conditions."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from allrelevant import GMLVQ, ClassificationBounds, MetricBounds, bounds_path
from allrelevant.datasets import make_linear_classification, make_xor
from allrelevant.report import render
from allrelevant.report.sections import (
    MAX_PANELS,
    MAX_RELATED_FEATURES,
    design_view,
    metric_view,
    path_view,
    relations_view,
)
from allrelevant.results import bounds_document


@cache
def fitted_metric() -> tuple[MetricBounds, Any]:
    data = make_xor(n_samples=60, random_state=0)
    learner = GMLVQ(prototypes_per_class=2, random_state=0)
    return MetricBounds(learner, max_dimension=4, random_state=0).fit(data.X, data.y), data


def metric_document() -> dict[str, Any]:
    est, data = fitted_metric()
    return bounds_document(est, data.X, data.y, table="t", target="y")


def test_metric_document_has_components_and_curve() -> None:
    est, _ = fitted_metric()
    document = json.loads(json.dumps(metric_document(), allow_nan=False))
    metric = document["metric"]
    np.testing.assert_allclose([row["upper"] for row in metric["rows"]], est.row_interval_[:, :, 1])
    np.testing.assert_allclose(
        metric["curve"]["test_error"], est.dimension_curve_.test_error.mean(axis=1)
    )
    assert document["score"]["cross_validated"] == est.cv_score_
    assert [f["raw"] for f in document["features"]] == pytest.approx(
        np.abs(est.raw_mapping_).sum(axis=0).tolist()
    )


def test_metric_report_uses_the_word_mapping() -> None:
    page = render(json.loads(json.dumps(metric_document())))
    assert "equivalent models" not in page
    assert "Error by effective dimension" in page
    assert "Signed from" not in page


def test_a_metric_without_a_curve() -> None:
    document = metric_document()
    document["metric"]["curve"] = None
    assert "Error by effective dimension" not in render(document)


def test_outlines_fill_the_drawing() -> None:
    drawing = metric_view(metric_document())
    for row in drawing["rows"]:
        heights = [float(point.split(",")[1]) for point in row["upper"].split()]
        assert max(heights) == drawing["height"]
        assert min(heights) == 0.0
        places = [float(point.split(",")[0]) for point in row["upper"].split()]
        assert (places[0], places[-1]) == (0.0, drawing["width"])
        assert places == sorted(places)


@pytest.fixture(scope="module")
def path_fit():
    data = make_linear_classification(
        80, n_strong=1, n_weak=2, n_irrelevant=2, flip=0.1, random_state=0
    )
    bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
    return bounds, data, bounds_path(bounds, data.X, data.y, values=[0.01, 0.1, 1.0, 10.0])


def test_document_has_the_path(path_fit):
    bounds, data, path = path_fit
    document = json.loads(json.dumps(bounds_document(bounds, data.X, data.y, path=path)))
    assert document["path"]["param"] == "C"
    feature = document["path"]["features"][1]
    np.testing.assert_allclose(feature["upper"], path.interval[:, 1, 1])
    assert feature["relevance"] == path.relevance[:, 1].tolist()
    first, last = feature["ranges"][0]["first"], feature["ranges"][-1]["last"]
    assert (first, last) == (0.01, 10.0)
    assert "Dependence on C" in render(document)


def test_without_a_path_there_is_no_section(path_fit):
    bounds, data, _ = path_fit
    document = bounds_document(bounds, data.X, data.y)
    assert document["path"] is None
    assert "Dependence on" not in render(document)


def test_bands_stay_within_their_panel(path_fit):
    bounds, _, path = path_fit
    drawn = path_view(bounds_document(bounds, path=path))
    for panel in drawn["panels"]:
        for band in panel["bands"]:
            points = np.array([point.split(",") for point in band["points"].split()], dtype=float)
            assert points.min() >= 0
            assert points[:, 0].max() <= drawn["width"]
            assert points[:, 1].max() <= drawn["height"]


def test_path_with_many_features_is_truncated(path_fit):
    bounds, _, path = path_fit
    document = bounds_document(bounds, path=path)
    names = [f"f{j}" for j in range(100)]
    for part in (document, document["path"]):
        part["features"] = [{**part["features"][0], "name": name} for name in names]
    drawn = path_view(document)
    assert len(drawn["panels"]) == MAX_PANELS
    assert drawn["n_features"] == 100


def test_names_are_escaped_in_a_path(path_fit):
    bounds, data, path = path_fit
    document = bounds_document(bounds, data.X, data.y, path=path)
    for part in (document["features"], document["path"]["features"]):
        part[0]["name"] = "<script>alert(1)</script>"
    assert "<script>alert" not in render(document)


@pytest.fixture(scope="module")
def document():
    data = make_linear_classification(80, n_strong=1, n_weak=4, n_irrelevant=1, random_state=0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    return bounds_document(
        bounds,
        data.X,
        data.y,
        relations=bounds.relations(),
        design=bounds.cheapest(n_solutions=3),
    )


def test_report_from_json(document):
    again = json.loads(json.dumps(document))
    assert again["relations"]["groups"][1]["features"] == ["x1", "x2"]
    assert len(again["cheapest_models"]["models"]) == 3
    assert render(again) == render(document)


def test_report_has_relations_and_cheapest_models(document):
    page = render(document)
    assert "Substitutes and complements" in page
    assert "Minimum-cost feature sets" in page


def test_sections_are_optional(document):
    page = render({**document, "relations": None, "cheapest_models": None})
    assert "Substitutes and complements" not in page
    assert "Minimum-cost feature sets" not in page


def test_drawings_stay_within_their_frames(document):
    drawn = relations_view(document)
    assert all(
        0 <= cell["x"] < drawn["size"] and 0 <= cell["y"] < drawn["size"] for cell in drawn["cells"]
    )
    assert all(0 <= cell["strength"] <= 1 for cell in drawn["cells"])
    names = {node["name"] for node in drawn["nodes"]}
    assert names == set(document["relations"]["features"])
    assert drawn["links"]
    costs = design_view(document)
    for mark in [*costs["marks"], costs["baseline"]]:
        assert 0 <= mark["x"] <= costs["width"]
        assert 0 <= mark["y"] <= costs["height"]


def test_many_related_features_are_truncated(document):
    names = [f"f{j}" for j in range(100)]
    many = {
        **document["relations"],
        "features": names,
        "matrix": [[-0.9] * 100 for _ in names],
    }
    drawn = relations_view({**document, "relations": many})
    assert len(drawn["names"]) == MAX_RELATED_FEATURES
    assert "of 100 relevant" in " ".join(render({**document, "relations": many}).split())


def test_names_are_escaped_in_relations(document):
    bad = "<script>alert(1)</script>"
    broken = json.loads(json.dumps(document).replace('"x1"', json.dumps(bad)))
    assert "<script>alert" not in render(broken)


def test_unproven_set_shows_its_gap(document):
    design = json.loads(json.dumps(document["cheapest_models"]))
    design["models"][-1].update(proven=False, gap=2.0)
    assert "at most 2 above the cheapest" in render({**document, "cheapest_models": design})
