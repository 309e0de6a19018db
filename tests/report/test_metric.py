"""Summary and page of a learned metric."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from allrelevant import GMLVQ, MetricBounds
from allrelevant.datasets import make_xor
from allrelevant.report import render
from allrelevant.report.sections import metric_drawings
from allrelevant.results import bounds_document


@cache
def fitted() -> tuple[MetricBounds, Any]:
    data = make_xor(n_samples=60, random_state=0)
    learner = GMLVQ(prototypes_per_class=2, random_state=0)
    return MetricBounds(learner, max_dimension=4, random_state=0).fit(data.X, data.y), data


def example() -> dict[str, Any]:
    est, data = fitted()
    return bounds_document(est, data.X, data.y, table="t", target="y")


def test_the_summary_holds_rows_and_curve_and_survives_json() -> None:
    est, _ = fitted()
    summary = json.loads(json.dumps(example(), allow_nan=False))
    metric = summary["metric"]
    np.testing.assert_allclose([row["upper"] for row in metric["rows"]], est.row_interval_[:, :, 1])
    np.testing.assert_allclose(
        metric["curve"]["test_error"], est.dimension_curve_.test_error.mean(axis=1)
    )
    assert summary["score"]["cross_validated"] == est.cv_score_
    assert [f["raw"] for f in summary["features"]] == pytest.approx(
        np.abs(est.raw_mapping_).sum(axis=0).tolist()
    )


def test_the_page_speaks_of_mappings() -> None:
    page = render(json.loads(json.dumps(example())))
    assert "equally good" not in page
    assert "Error by effective dimension" in page
    assert "Signed from" not in page


def test_without_a_curve() -> None:
    summary = example()
    summary["metric"]["curve"] = None
    assert "Error by effective dimension" not in render(summary)


def test_outlines_reach_from_the_ground_to_the_largest_bound() -> None:
    drawing = metric_drawings(example()["metric"])
    for row in drawing["rows"]:
        heights = [float(point.split(",")[1]) for point in row["upper"].split()]
        assert max(heights) == drawing["height"]
        assert min(heights) == 0.0
        places = [float(point.split(",")[0]) for point in row["upper"].split()]
        assert (places[0], places[-1]) == (0.0, drawing["width"])
        assert places == sorted(places)
