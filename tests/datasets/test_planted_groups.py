"""The groups that the generator returns are the groups there are."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import make_planted_groups


def test_members_of_a_group_replace_each_other():
    data = make_planted_groups(200, n_alone=2, n_pairs=2, n_triples=1, n_sums=2, random_state=0)
    for label in range(data.group.max() + 1):
        members = data.X[:, data.group == label]
        others = data.X[:, data.group != label]
        rank = np.linalg.matrix_rank(members)
        assert rank == (1 if label < 5 else 2)  # the sums come last
        assert np.linalg.matrix_rank(np.hstack([others, members])) == rank + np.linalg.matrix_rank(
            others
        )
    assert (data.group == -1).sum() == 10


def test_the_class_is_decided_by_one_of_each_group():
    data = make_planted_groups(200, random_state=1)
    first = [data.X[:, np.flatnonzero(data.group == label)[0]] for label in range(3)]
    total = np.sum(first, axis=0) + np.sqrt(2.0) * data.X[:, 8]
    np.testing.assert_array_equal(data.y, (total > 0).astype(int))


def test_noise_flips_and_bad_counts():
    clean, noisy = (make_planted_groups(100, flip=flip, random_state=0) for flip in (0.0, 0.2))
    assert (clean.y != noisy.y).sum() == 20
    with pytest.raises(InputError, match="cannot be negative"):
        make_planted_groups(n_pairs=-1)
    with pytest.raises(InputError, match="flip"):
        make_planted_groups(flip=0.7)
