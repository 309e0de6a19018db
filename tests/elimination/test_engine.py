"""Tests of the order in which features are removed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.elimination.engine import StepSchedule, smallest_indices, subset_sizes


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.integers(1, 40),
)
@settings(deadline=None)
def test_smallest_indices_are_sorted_by_value_then_index(values, number):
    values = np.array(values, dtype=float)
    noisy = values * (1 + 1e-15 * np.arange(len(values)))
    expected = np.lexsort((np.arange(len(values)), values))[: min(number, len(values))]
    assert smallest_indices(noisy, number).tolist() == expected.tolist()


def test_steps_drop_a_count_or_a_fraction_and_stop_at_the_smallest_subset():
    assert subset_sizes(9, 0.5, 2) == [9, 5, 3, 2]
    assert subset_sizes(9, 4, 2) == [9, 5, 2]
    assert subset_sizes(3, 1, 3) == [3]
    schedule = StepSchedule(subset_sizes(9, 4, 2), 1)
    assert [schedule.n_dropped(size) for size in (9, 5, 2)] == [4, 3, 0]
    assert schedule.n_steps(9) == 2


def test_a_path_that_starts_with_fewer_features_continues_with_the_same_sizes():
    schedule = StepSchedule([20, 10, 5, 1], 1)
    assert schedule.n_dropped(18) == 8
    assert schedule.n_steps(18) == 3
    assert schedule.n_steps(10) == 2


def test_automatic_steps_drop_a_tenth_of_many_features_and_then_single_ones():
    sizes = np.array(subset_sizes(5_000, "auto", 1))
    many = sizes[:-1] > 200
    assert (np.diff(sizes)[~many] == -1).all()
    fractions = -np.diff(sizes)[many] / sizes[:-1][many]
    assert (fractions[:-1] > 0.09).all()
    assert (fractions <= 0.1).all()
    assert sizes[-1] == 1


def test_close_criteria_give_several_candidates():
    auto = StepSchedule([4, 3, 2, 1], "auto")
    clear, close = np.array([0.1, 2.0, 3.0, 4.0]), np.array([2.0, 2.1, 2.2, 4.0])
    assert auto.n_competing(clear, clear) == 1
    assert auto.n_competing(close, close) == 3
