"""Tests of the accuracy that the README states for relevance classes on synthetic data."""

import pytest

from benchmarks.ground_truth import CLEAN_SEEDS, FLIPPED_SEEDS, mean_scores
from benchmarks.sets import ESANN17, FEREL18, GENERAL


@pytest.mark.parametrize(
    ("name", "at_least"),
    [("ferel18 A", 0.995), ("ferel18 B", 0.98), *((name, 0.97) for name in ESANN17)],
)
def test_clean_labels(name, at_least):
    score = mean_scores({**FEREL18, **ESANN17}[name], CLEAN_SEEDS, 0.0, "separate")
    assert score["relevant"] >= at_least


@pytest.mark.parametrize("name", [*FEREL18, "400 x 20, copies"])
def test_labels_with_ten_percent_flipped(name):
    score = mean_scores({**FEREL18, **GENERAL}[name], FLIPPED_SEEDS, 0.1, "separate")
    assert score["relevant"] >= 0.98
    assert score["strong"] >= 0.95
    assert score["weak"] >= 0.95
