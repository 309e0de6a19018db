"""Tests of figures of explanations: complete titles and consistent color scales."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from allrelevant.plots import SaliencyMapDisplay
from allrelevant.saliency import Explanation

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def explanation(label: str = "benign", wrong: tuple[int, ...] = (0,)) -> Explanation:
    """Return four explained rows of twelve features, some marked as misclassified."""
    rng = np.random.default_rng(0)
    saliency = rng.normal(size=(4, 12)) * np.array([[1e-4], [5.0], [7.0], [3.0]])
    predicted = np.array([label] * 4, dtype=object)
    targets = predicted.copy()
    targets[list(wrong)] = label[::-1] + "?"
    names = [f"feature {j}" for j in range(12)]
    features = rng.normal(size=(4, 12))
    return Explanation(saliency, features, targets, predicted, np.ones(4), names, True)


def without_spaces(text: str) -> str:
    return "".join(text.split())


def left_title(ax: Axes) -> Text:
    texts = [child for child in ax.get_children() if isinstance(child, Text)]
    return next(text for text in texts if text.get_text() == ax.get_title(loc="left"))


def check_complete(title: Text, *sentences: str) -> None:
    """Check that a title is complete and inside the figure at low and high resolution."""
    assert without_spaces(title.get_text()) == without_spaces("".join(sentences))
    for dpi in (72, 250):
        title.figure.set_dpi(dpi)
        title.figure.canvas.draw()
        inner, outer = title.get_window_extent(), title.figure.bbox
        assert min(inner.x0 - outer.x0, inner.y0 - outer.y0) >= -1  # a pixel of rounding
        assert max(inner.x1 - outer.x1, inner.y1 - outer.y1) <= 1


LABELS = {
    "short": "benign",
    "long": "some words and " + "x" * 100,
    "wide": "良性" * 40,
    "formula": "$x$",
}


@pytest.mark.filterwarnings("ignore:Glyph")  # fonts without Chinese glyphs
@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_titles_are_complete(label: str) -> None:
    found = explanation(label)
    bars = found.plot(0, max_features=5).ax_
    check_complete(left_title(bars), found.note(0), "(7 less salient features not shown)")
    check_complete(found.plot_map(0, shape=(12, 1)).ax_.title, found.note(0))


def test_titles_and_labels_are_complete_in_small_figures() -> None:
    found = explanation("malignant")
    _, ax = plt.subplots(figsize=(3.0, 2.5), layout="constrained")
    found.plot(0, max_features=3, ax=ax)
    check_complete(left_title(ax), found.note(0), "(9 less salient features not shown)")
    check_complete(ax.xaxis.label, "saliency (% of the row's total)")
    _, ax = plt.subplots(figsize=(2.0, 2.0), layout="constrained")
    check_complete(found.plot_map(0, shape=(3, 4), ax=ax).ax_.title, found.note(0))


def test_titles_side_by_side_do_not_overlap() -> None:
    found = explanation("malignant", wrong=(0, 1, 2))
    figure, axes = plt.subplots(1, 3, figsize=(8.0, 3.0), layout="constrained")
    for row, ax in enumerate(axes):
        found.plot_map(row, shape=(3, 4), ax=ax)
    figure.canvas.draw()
    boxes = [ax.title.get_window_extent() for ax in axes]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[1].x1 < boxes[2].x0


def test_bars_keep_their_size_under_a_long_title() -> None:
    heights = []
    for label in ("b", "x" * 150):
        ax = explanation(label).plot(0).ax_
        ax.figure.canvas.draw()
        heights.append(ax.get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.1)


def drawn_scale(display: SaliencyMapDisplay) -> float:
    """Return the maximum of the color scale, as shown by the color bar."""
    (bar,) = display.ax_.child_axes
    assert bar.get_ylabel() == "saliency"
    assert bar.get_ylim() == display.ax_.images[-1].get_clim()
    display.figure_.canvas.draw()
    assert [label.get_text() for label in bar.get_yticklabels()]
    return bar.get_ylim()[1]


def test_misclassified_rows_use_the_scale_of_correct_ones() -> None:
    found = explanation()
    largest = found.absolute.max(axis=1)
    assert drawn_scale(found.plot_map(0, shape=(3, 4))) == largest[1:].max()
    assert drawn_scale(found.plot_map(3, shape=(3, 4))) == largest[3]
    assert drawn_scale(found.plot_map(0, shape=(3, 4), scale=2.0)) == 2.0
    sums = found.absolute.reshape(4, 2, 2, 3).sum(axis=3)
    assert drawn_scale(found.plot_map(0, shape=(2, 2, 3))) == sums[1:].max()
    alone = explanation(wrong=(0, 1, 2, 3))
    assert drawn_scale(alone.plot_map(0, shape=(3, 4))) == largest[0]


def test_redrawn_map_has_one_color_bar() -> None:
    display = explanation().plot_map(0, shape=(3, 4))
    first = drawn_scale(display)
    assert drawn_scale(display.plot(ax=display.ax_)) == first
    assert drawn_scale(display.plot(ax=display.ax_, scale=1.0)) == 1.0


@pytest.mark.parametrize("n_axes", [1, 2])
def test_titles_are_complete_on_axes_without_a_layout(n_axes: int) -> None:
    """The title stays inside the figure, even if long feature names extend beyond it."""
    found = explanation("malignant")
    found.names[:] = [f"a name of very many letters, {j}" for j in range(12)]
    figure, axes = plt.subplots(1, n_axes, squeeze=False)
    ax = axes[0, -1]
    found.plot(0, max_features=3, ax=ax)
    figure.canvas.draw()
    title, box = left_title(ax).get_window_extent(), figure.bbox
    assert box.x0 <= title.x0
    assert title.x1 <= box.x1


def test_redrawn_map_has_one_image() -> None:
    display = explanation().plot_map(1, shape=(3, 4))
    before = len(display.ax_.images)
    assert len(display.plot(ax=display.ax_).ax_.images) == before
