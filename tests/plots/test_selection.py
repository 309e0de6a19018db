"""Tests of figures of feature selection: elimination paths and minimum-cost feature sets."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_classification

from allrelevant import SVMRFE, ClassificationBounds, InputError
from allrelevant.datasets import make_linear_classification
from allrelevant.plots import EliminationDisplay

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted() -> SVMRFE:
    X, y = make_classification(60, 12, n_informative=3, random_state=0)
    return SVMRFE(nested_cv=True, cv=4).fit(X, y)


def test_curve_band_and_held_out_score(fitted: SVMRFE) -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    display = fitted.plot(ax=ax)
    assert display.ax_ is ax
    curve, selected, held_out = (np.asarray(line.get_xydata()) for line in ax.lines)
    order = np.argsort(fitted.n_subset_features_)
    np.testing.assert_allclose(curve[:, 0], fitted.n_subset_features_[order])
    np.testing.assert_allclose(curve[:, 1], fitted.scores_[order])
    errors = fitted.fold_scores_.std(axis=1, ddof=1) / 2
    (band,) = ax.collections
    edges = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert edges.max() == pytest.approx((fitted.scores_ + errors).max())
    assert edges.min() == pytest.approx((fitted.scores_ - errors).min())
    assert set(selected[:, 0]) == {fitted.n_features_}
    assert set(held_out[:, 1]) == {fitted.held_out_score_.score}


def test_redraws_on_a_logarithmic_axis(fitted: SVMRFE) -> None:
    display = EliminationDisplay.from_estimator(fitted)
    assert display.ax_.get_xscale() == "linear"
    assert display.plot(log=True).ax_.get_xscale() == "log"


def test_without_scores() -> None:
    X, y = make_classification(40, 6, random_state=0)
    with pytest.raises(InputError, match="no scores to draw"):
        SVMRFE(cv=None, n_features_to_select=2).fit(X, y).plot()


def test_one_mark_per_cheapest_model() -> None:
    data = make_linear_classification(80, n_strong=1, n_weak=4, n_irrelevant=1, random_state=0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    design = bounds.cheapest(n_solutions=3)
    display = design.plot()
    marks = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert [float(np.ravel(line.get_ydata())[0]) for line in marks] == [s.cost for s in design]
    plt.close("all")
