"""Tests of axis ticks in figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allrelevant.plots.layout import axis_ticks


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_few_ticks_cover_the_values(largest: float) -> None:
    ticks = axis_ticks(largest)
    assert ticks[0] == 0.0
    assert ticks[-1] >= largest * (1 - 1e-6)
    assert ticks[-2] < largest
    assert 3 <= len(ticks) <= 6
    assert ticks[2] == pytest.approx(2 * ticks[1])
