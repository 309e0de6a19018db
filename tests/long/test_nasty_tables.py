"""2,000 hard tables: the fast solver and HiGHS agree to 1e-6."""

import pytest

from tests.bounds.nasty import KINDS
from tests.bounds.solver.test_tableau import compare


@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_tables_of_each_kind(kind, capsys):
    programs = fallbacks = tables = 0
    for seed in range(1000, 1200):
        difference, effort = compare(kind, seed)
        assert difference <= 1e-6, f"seed {seed}"
        if effort is not None:
            tables += 1
            programs += effort.programs
            fallbacks += effort.fallbacks
    with capsys.disabled():
        print(f"\n{kind}: {tables} tables, {programs} programs, {fallbacks} settled by HiGHS")
