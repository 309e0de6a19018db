"""Which features are dropped first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.elimination.engine import smallest


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.integers(1, 40),
)
@settings(deadline=None)
def test_the_worst_come_first_and_ties_by_place(values, number):
    values = np.array(values, dtype=float)
    noisy = values * (1 + 1e-15 * np.arange(len(values)))
    expected = np.lexsort((np.arange(len(values)), values))[: min(number, len(values))]
    assert smallest(noisy, number).tolist() == expected.tolist()
