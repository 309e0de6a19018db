"""Tests of the figure of relevance intervals."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from sklearn.exceptions import NotFittedError

from allrelevant import ClassificationBounds, InputError, MissingExtraError, RelevanceWarning
from allrelevant.datasets import make_linear_classification
from allrelevant.plots import IntervalsDisplay
from allrelevant.plots._style import CLASS_STYLES
from allrelevant.relevance import CLASSES

NAMES = ["cost in $", "$\\frac{", "a\nb", "", "x" * 200]


@pytest.fixture(autouse=True)
def no_windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mpl.use("Agg")

    def shown() -> None:
        raise AssertionError("show() is for the user to call")

    monkeypatch.setattr(plt, "show", shown)
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def est() -> ClassificationBounds:
    data = make_linear_classification(
        n_samples=80, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    )
    X = pd.DataFrame(data.X, columns=NAMES)
    return ClassificationBounds(C=1.0, cutoff=0.1).fit(X, data.y)


def bars(ax: Axes) -> np.ndarray:
    """Return the left and right end of each bar, from top to bottom."""
    patches = sorted(ax.patches, key=lambda patch: patch.get_y())  # type: ignore[attr-defined]
    return np.array([[p.get_x(), p.get_x() + p.get_width()] for p in patches])  # type: ignore[attr-defined]


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def legend(ax: Axes) -> list[str]:
    box = ax.get_legend()
    assert box is not None
    return [text.get_text() for text in box.get_texts()]


def test_bars_are_the_intervals(est: ClassificationBounds) -> None:
    display = IntervalsDisplay.from_estimator(est)
    np.testing.assert_allclose(bars(display.ax_), est.interval_, atol=1e-12)
    for patch, relevance in zip(display.ax_.patches, est.relevance_, strict=True):
        assert patch.get_facecolor()[:3] == to_rgb(CLASS_STYLES[relevance].fill)


def test_first_row_is_on_top(est: ClassificationBounds) -> None:
    bottom, top = IntervalsDisplay.from_estimator(est).ax_.get_ylim()
    assert bottom > 4
    assert top < 0


def test_names_are_plain_text(est: ClassificationBounds) -> None:
    display = IntervalsDisplay.from_estimator(est)
    display.figure_.canvas.draw()  # would fail if "$\\frac{" were parsed as a formula
    assert labels(display.ax_)[:4] == ["cost in $", "$\\frac{", "a\\nb", "''"]
    assert len(labels(display.ax_)[4]) == 30


def test_order_by_upper_bound(est: ClassificationBounds) -> None:
    upper = bars(IntervalsDisplay.from_estimator(est, order="upper").ax_)[:, 1]
    assert (np.diff(upper) <= 1e-12).all()


@pytest.mark.parametrize("order", ["table", "upper"])
def test_omitted_features_are_noted(est: ClassificationBounds, order: str) -> None:
    display = IntervalsDisplay.from_estimator(est, max_features=3, order=order)
    shown = bars(display.ax_)
    assert len(shown) == 3
    np.testing.assert_allclose(np.sort(shown[:, 1]), np.sort(est.interval_[:, 1])[2:])
    assert "3 of 5 features" in display.ax_.get_xlabel()
    assert "features" not in display.plot(max_features=None).ax_.get_xlabel()


def test_redraws_on_given_axes(est: ClassificationBounds) -> None:
    figure, (left, right) = plt.subplots(ncols=2)
    display = IntervalsDisplay.from_estimator(est, ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert display.plot(ax=right, order="upper") is display
    assert display.ax_ is right
    assert len(bars(left)) == len(bars(right)) == 5
    assert plt.get_fignums() == [figure.number]


def test_baseline_marks(est: ClassificationBounds) -> None:
    display = IntervalsDisplay.from_estimator(est)
    (marks,) = [line for line in display.ax_.lines if line.get_label() == "baseline"]
    np.testing.assert_allclose(np.asarray(marks.get_xdata()), np.abs(est.baseline_.coef_))
    assert "baseline" in legend(display.ax_)
    assert "baseline" not in legend(display.plot(show_baseline=False).ax_)


def test_cutoffs(est: ClassificationBounds) -> None:
    display = IntervalsDisplay.from_estimator(est)
    (line,) = [line for line in display.ax_.lines if line.get_label() == "cutoff"]
    assert np.asarray(line.get_xdata()).tolist() == [0.1, 0.1]
    assert "cutoff" not in legend(display.plot(show_cutoff=False).ax_)
    display.cutoff = [0.02, 0.3]
    assert {"cutoff, lower bound", "cutoff, upper bound"} <= set(legend(display.plot().ax_))


def test_without_legend(est: ClassificationBounds) -> None:
    assert IntervalsDisplay.from_estimator(est, show_legend=False).ax_.get_legend() is None


def test_several_classes() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:20, 0] += 3
    X[20:40, 1] += 3
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, np.repeat([0, 1, 2], 20))
    display = est.plot()
    assert "cutoff" not in legend(display.ax_)
    assert labels(display.ax_) == ["x0", "x1"]


def test_invalid_options(est: ClassificationBounds) -> None:
    with pytest.raises(InputError, match="'lower'"):
        IntervalsDisplay.from_estimator(est, order="lower")
    with pytest.raises(InputError, match="max_features"):
        IntervalsDisplay.from_estimator(est, max_features=0)
    with pytest.raises(NotFittedError):
        IntervalsDisplay.from_estimator(ClassificationBounds())


def test_without_matplotlib(est: ClassificationBounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"allrelevant\[plot\]"):
        est.plot()


def test_colors_differ_in_grayscale() -> None:
    assert set(CLASS_STYLES) == set(CLASSES)

    def gray(color: str) -> float:
        return float(np.dot(to_rgb(color), [0.2126, 0.7152, 0.0722]))

    solid = [gray(style.fill) for style in CLASS_STYLES.values() if style.line == "-"]
    assert len(solid) == 3
    assert np.min(np.diff(solid)) > 0.25
    unconfirmed, weak, irrelevant = (
        CLASS_STYLES[name] for name in ("unconfirmed", "weak", "irrelevant")
    )
    assert unconfirmed.line != "-"
    assert gray(unconfirmed.fill) - gray(weak.fill) > 0.2
    assert gray(irrelevant.edge) - gray(unconfirmed.edge) > 0.25


def test_unconfirmed_features_have_dashed_edges_and_a_legend_entry() -> None:
    display = IntervalsDisplay(
        interval=[[0.2, 0.5], [0.0, 0.4]], relevance=["unconfirmed", "irrelevant"]
    ).plot()
    first, second = display.ax_.patches
    assert first.get_linestyle() != second.get_linestyle()
    assert legend(display.ax_) == ["unconfirmed", "irrelevant"]


@pytest.mark.parametrize(("cutoff", "n_lines"), [("fdr", 0), ("probes", 2), (0.1, 1)])
def test_tested_features_have_no_cutoff_lines(cutoff: Any, n_lines: int) -> None:
    data = make_linear_classification(
        n_samples=60, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    )
    est = ClassificationBounds(C=1.0, cutoff=cutoff, n_probes=12, random_state=0)
    display = est.fit(data.X, data.y).plot()
    assert est.rule_ == ("fixed" if cutoff == 0.1 else cutoff)
    lines = [line for line in display.ax_.lines if str(line.get_label()).startswith("cutoff")]
    assert len(lines) == n_lines


def test_no_cutoff_lines_if_no_cutoff_was_estimated() -> None:
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(20, 30)), np.repeat([0, 1], 10)
    with pytest.warns(RelevanceWarning, match="no evidence"):
        est = ClassificationBounds(C=1.0, cutoff="fdr", random_state=0).fit(X, y)
    assert est.rule_ == "probes"
    assert "cutoff" not in " ".join(legend(est.plot().ax_))
