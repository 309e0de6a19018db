"""Tests that the simplex solver and HiGHS agree to 1e-6 on 2,000 difficult tables."""

import pytest

from allrelevant.bounds.solver.interface import sum_stats
from tests.bounds.nasty import KINDS
from tests.bounds.solver.test_simplex import comparisons


@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_tables_of_each_kind(kind, capsys):
    efforts = []
    for seed, difference, effort in comparisons(kind, 200, first_seed=1000):
        assert difference <= 1e-6, f"seed {seed}"
        efforts.append(effort)
    total = sum_stats(efforts)
    with capsys.disabled():
        print(
            f"\n{kind}: {len(efforts)} tables, {total.programs} LPs, "
            f"{total.fallbacks} solved by HiGHS (fallback)"
        )
