"""Tests of figures of relations between features."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from allrelevant import ClassificationBounds, InputError
from allrelevant.datasets import make_linear_classification

mpl.use("Agg")


@pytest.fixture(scope="module")
def bounds():
    data = make_linear_classification(80, n_strong=1, n_weak=4, n_irrelevant=1, random_state=0)
    return ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)


@pytest.fixture(scope="module")
def relations(bounds):
    return bounds.relations()


def test_heat_map_is_ordered_by_group(relations):
    display = relations.plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    labels = [relations.labels_[int(name[1:])] for name in names]
    assert len(set(labels)) == 1 + np.count_nonzero(np.diff(labels))
    shown = [int(name[1:]) for name in names]
    np.testing.assert_array_equal(
        display.ax_.images[0].get_array(), relations.relations_[np.ix_(shown, shown)]
    )


def test_omitted_features_are_noted(relations):
    assert "the first 2 of" in relations.plot(max_features=2).ax_.get_xlabel()
    assert "the first 2 of" in relations.plot("graph", max_features=2).ax_.get_title()


def test_lines_connect_related_features(relations):
    n_related = sum(
        relations.kind(j, k) != "independent"
        for j in range(len(relations.labels_))
        for k in range(j)
    )
    assert len(relations.plot("graph").ax_.lines) == n_related > 0


def test_axes_and_kind(relations):
    _, ax = plt.subplots()
    assert relations.plot(ax=ax).ax_ is ax
    with pytest.raises(InputError, match="'matrix' or 'graph'"):
        relations.plot("tree")
    plt.close("all")
