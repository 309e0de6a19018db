"""Constraints as users write them."""

import numpy as np

from allrelevant.bounds.constraints import parse_constraint


def test_a_pair_is_a_range_and_none_an_open_end():
    spec = parse_constraint("age", (0.5, None), signed=False)
    assert (spec.low, spec.high, spec.signed, spec.keep) == (0.5, np.inf, False, False)
