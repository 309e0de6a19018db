"""Tests of the order in which features are removed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.elimination.engine import StepSchedule, smallest_indices


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
    assert StepSchedule(0.5, 1, 2).n_dropped(9) == 4
    assert StepSchedule(4, 1, 2).n_dropped(5) == 3
    assert StepSchedule(1, 1, 2).n_dropped(2) == 0
    assert StepSchedule(1, 1, 1).n_steps(5) == 4
    assert StepSchedule(0.5, 1, 1).n_steps(8) == 3


def test_close_criteria_give_several_candidates():
    auto = StepSchedule(1, "auto", 1)
    clear, close = np.array([0.1, 2.0, 3.0, 4.0]), np.array([2.0, 2.1, 2.2, 4.0])
    assert auto.n_competing(clear, clear) == 1
    assert auto.n_competing(close, close) == 3
