import matplotlib
import numpy as np
import pytest

from allrelevant import MappingBounds
from allrelevant.bounds.mapping.dimension import DimensionCurve
from allrelevant.plots import DimensionDisplay

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def heights(ax, container):
    return [patch.get_height() for patch in ax.containers[container]]


class TestMappingDisplay:
    def test_raw_weights_above_bounds(self):
        rng = np.random.RandomState(0)
        bounds = MappingBounds(rng.normal(size=(2, 5)), effective_dimension=3, slack=0.05)
        bounds.fit(rng.normal(size=(40, 5)))
        display = bounds.plot_rows()
        assert display.axes_.shape == (2, 2)
        for row in range(2):
            above, below = display.axes_[:, row]
            np.testing.assert_allclose(heights(above, 0), np.abs(bounds.raw_mapping_[row]))
            np.testing.assert_allclose(heights(below, 0), bounds.row_interval_[row, :, 1])
            np.testing.assert_allclose(heights(below, 1), bounds.row_interval_[row, :, 0])

    def test_max_rows_and_positions(self):
        rng = np.random.RandomState(0)
        bounds = MappingBounds(rng.normal(size=(2, 5)), effective_dimension=3)
        bounds.fit(rng.normal(size=(40, 5)))
        display = bounds.plot_rows(max_rows=1, x=[900.0, 901.0, 902.0, 903.0, 904.0])
        assert display.axes_.shape == (2, 1)
        centers = [p.get_x() + p.get_width() / 2 for p in display.axes_[0, 0].patches]
        np.testing.assert_allclose(centers, [900.0, 901.0, 902.0, 903.0, 904.0])


def test_dimension_display_draws_both_errors():
    curve = DimensionCurve(
        dimensions=np.array([1, 2, 3]),
        train_error=np.array([[0.4, 0.4], [0.1, 0.1], [0.0, 0.0]]),
        test_error=np.array([[0.5, 0.3], [0.2, 0.2], [0.1, 0.1]]),
        averaged_error=np.zeros((3, 2)),
        raw_train_error=np.zeros(2),
        raw_test_error=np.full(2, 0.1),
    )
    display = curve.plot()
    assert isinstance(display, DimensionDisplay)
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in display.ax_.lines}
    np.testing.assert_allclose(lines["held-out rows"], [0.4, 0.2, 0.1])
    np.testing.assert_allclose(lines["training rows"], [0.4, 0.1, 0.0])
    _, ax = pyplot.subplots()
    assert display.plot(ax=ax).ax_ is ax
