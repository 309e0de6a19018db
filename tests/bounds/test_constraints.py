"""Tests of parsing user constraints on weights."""

import numpy as np

from allrelevant.bounds.constraints import parse_constraint


def test_pair_with_none_has_no_upper_limit():
    spec = parse_constraint("age", (0.5, None), signed=False)
    assert (spec.low, spec.high, spec.signed, spec.keep) == (0.5, np.inf, False, False)
