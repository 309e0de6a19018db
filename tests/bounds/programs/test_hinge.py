"""Tests of hinge constraints on dense and sparse tables: slack, and combinations of rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant.bounds.programs.hinge import HingeRows

RNG = np.random.RandomState(0)
TABLE = RNG.randn(7, 5) * (RNG.rand(7, 5) < 0.5)
MODELS = np.array([[1.0, 0.0, 0.0, -2.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
OFFSETS = np.array([[0.5], [-1.0]])


@pytest.fixture(params=[np.asarray, sp.csr_array, sp.csc_array])
def rows(request):
    return HingeRows(request.param(TABLE), np.ones((7, 1)), np.arange(7.0), np.ones(7))


def test_slack_is_target_minus_prediction(rows):
    expected = np.arange(7.0) - MODELS @ TABLE.T - OFFSETS
    np.testing.assert_allclose(rows.slack(MODELS, OFFSETS), expected)


def test_row_combination_of_one_and_several_vectors(rows):
    several = RNG.rand(3, 7)
    np.testing.assert_allclose(rows.row_combination(several), several @ TABLE)
    np.testing.assert_allclose(rows.row_combination(several[0]), several[0] @ TABLE)
