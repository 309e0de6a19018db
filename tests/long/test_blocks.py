"""Bounds of categories, missing values and curves on 80 further tables; see tests/bounds."""

import pytest

from tests.bounds.test_blocks import TASKS
from tests.bounds.test_blocks import test_intervals_agree_with_cold_programs as check


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
@pytest.mark.parametrize("curves", [None, 3])
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(3, 11))
def test_intervals_of_further_tables_agree_with_cold_programs(name, curves, seed):
    check(name, curves, seed)
