"""Tests of the figure of bounds over random splits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from allrelevant import InputError, MissingExtraError, Stability
from allrelevant.plots import StabilityDisplay
from allrelevant.plots._style import CLASS_STYLES
from allrelevant.relevance import CLASSES

NAMES = ["cost in $", "$\\frac{", "a\nb", "", "x" * 200]


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def found() -> Stability:
    rng = np.random.RandomState(0)
    lower = np.c_[rng.uniform(0.5, 0.9, (4, 1)), np.zeros((4, 4))]
    baseline = np.c_[rng.uniform(1.0, 2.0, (4, 2)), np.zeros((4, 3))]
    upper = 2.0 + rng.uniform(0.0, 1.0, (4, 5))
    relevance = np.array([["strong", "weak", "weak", "irrelevant", "irrelevant"]] * 4)
    relevance[0] = "weak"
    return Stability(NAMES, lower, upper, baseline, relevance, np.ones(4))


def bars(ax: Axes) -> np.ndarray:
    """Return the row and both ends of each bar, from top to bottom and left to right."""
    ends = [
        (round(p.get_y() + p.get_height() / 2), p.get_x(), p.get_x() + p.get_width())  # type: ignore[attr-defined]
        for p in ax.patches
    ]
    return np.array(sorted(ends))


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def numbers(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_bars_are_the_mean_intervals(found: Stability) -> None:
    left, _ = found.plot().axes_
    means = np.column_stack([found.lower.mean(axis=0), found.upper.mean(axis=0)])
    np.testing.assert_allclose(bars(left)[:, 1:], means)
    most_frequent = ["strong", "weak", "weak", "irrelevant", "irrelevant"]
    for patch, relevance in zip(left.patches, most_frequent, strict=True):
        assert patch.get_facecolor()[:3] == to_rgb(CLASS_STYLES[relevance].fill)


def test_whiskers_are_one_standard_deviation(found: Stability) -> None:
    left, _ = found.plot().axes_
    drawn = [
        segment[:, 0]
        for lines in left.collections
        for segment in lines.get_segments()  # type: ignore[attr-defined]
        if segment[0, 1] == segment[1, 1] == 1.0
    ]
    mean, std = found.upper[:, 1].mean(), found.upper[:, 1].std(ddof=1)
    # The lower bound has no whiskers, because it is constant.
    assert len(drawn) == 2
    for ends in drawn:
        np.testing.assert_allclose(ends, [mean - std, mean + std])


def test_class_fractions_fill_every_row(found: Stability) -> None:
    _, right = found.plot().axes_
    expected = []
    for row, frequency in enumerate(found.frequency):
        ends = np.cumsum(frequency)
        expected += [
            (row, end - part, end) for part, end in zip(frequency, ends, strict=True) if part > 0
        ]
    np.testing.assert_allclose(bars(right), expected, atol=1e-12)


def test_baseline_and_ratio(found: Stability) -> None:
    display = found.plot()
    left, right = display.axes_
    (marks,) = [line for line in left.lines if line.get_label() == "baseline, mean"]
    np.testing.assert_allclose(np.asarray(marks.get_xdata()), found.baseline.mean(axis=0))
    assert numbers(right) == [
        *(f"{ratio:.2f}" for ratio in found.ratio[:2]),
        *("∞", "∞", "∞", "ratio"),
    ]
    left, right = display.plot(show_baseline=False, show_ratio=False).axes_
    assert not left.lines
    assert numbers(right) == []


def test_names_are_plain_text_on_the_left_panel_only(found: Stability) -> None:
    display = found.plot()
    display.figure_.canvas.draw()  # would fail if "$\\frac{" were parsed as a formula
    left, right = display.axes_
    assert labels(left)[:4] == ["cost in $", "$\\frac{", "a\\nb", "''"]
    assert not any(label.get_visible() and label.get_text() for label in right.get_yticklabels())
    assert left.get_ylim() == right.get_ylim() == (4.6, -0.6)


def test_omitted_features_are_noted(found: Stability) -> None:
    left, right = found.plot(max_features=2, order="upper").axes_
    np.testing.assert_allclose(
        bars(left)[:, 2], np.sort(found.upper.mean(axis=0))[::-1][:2], atol=1e-12
    )
    assert "2 of 5 features" in left.get_xlabel()
    assert len(numbers(right)) == 3


def test_legend(found: Stability) -> None:
    display = found.plot()
    legend = display.axes_[0].get_legend()
    assert legend is not None
    present = ["strong", "weak", "irrelevant"]
    assert [text.get_text() for text in legend.get_texts()] == [*present, "baseline, mean"]
    assert display.plot(show_legend=False).axes_[0].get_legend() is None


def test_unconfirmed_features_are_drawn(found: Stability) -> None:
    relevance = found.relevance.astype("U11")
    relevance[:, 3] = "unconfirmed"
    display = replace(found, relevance=relevance).plot()
    legend = display.axes_[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [*CLASSES, "baseline, mean"]
    style = CLASS_STYLES["unconfirmed"]
    assert display.axes_[0].patches[3].get_facecolor()[:3] == to_rgb(style.fill)


def test_redraws_on_given_axes(found: Stability) -> None:
    figure, (first, second, *others) = plt.subplots(ncols=4)
    display = found.plot(ax=(first, second))
    assert isinstance(display, StabilityDisplay)
    assert display.axes_ == (first, second)
    assert display.plot(ax=others).axes_ == tuple(others)
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_names_by_default(found: Stability) -> None:
    display = StabilityDisplay(
        interval_mean=[[0.0, 1.0]], interval_std=[[0.0, 0.1]], frequency=[[0.0, 1.0, 0.0, 0.0]]
    ).plot()
    assert labels(display.axes_[0]) == ["x0"]
    assert numbers(display.axes_[1]) == []


def test_invalid_options(found: Stability) -> None:
    with pytest.raises(InputError, match="'lower'"):
        found.plot(order="lower")
    with pytest.raises(InputError, match="max_features"):
        found.plot(max_features=0)


def test_without_matplotlib(found: Stability, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"allrelevant\[plot\]"):
        found.plot()
