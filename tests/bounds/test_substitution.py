"""Tests of relations computed from changes of relevance intervals."""

import numpy as np

from allrelevant.bounds.substitution import signed_relations


def test_features_needed_only_without_each_other_are_substitutes():
    interval = np.array([[0.0, 1.0], [0.0, 1.0]])
    dropped = np.array([[[0.0, 0.0], [0.9, 1.0]], [[0.9, 1.0], [0.0, 0.0]]])
    raised = np.array([[[0.5, 1.0], [0.0, 0.5]], [[0.0, 0.5], [0.5, 1.0]]])
    relations = signed_relations(interval, dropped, raised)
    np.testing.assert_allclose([relations[0, 1], relations[1, 0]], [-1.0, -1.0])
    one = signed_relations(interval, dropped[:, :1], raised[:, :1])
    np.testing.assert_array_equal(one[:, 0], relations[:, 0])
