"""Tests of the statements in docs/relations.md over many seeds."""

import numpy as np
import pytest

from allrelevant import ClassificationBounds
from allrelevant.datasets import make_linear_classification
from benchmarks.relations import planted_scores
from tests.bounds.fitted_tasks import FITTED
from tests.bounds.test_design import compare_with_all_subsets
from tests.bounds.test_what_if import compare


@pytest.mark.parametrize(("noise", "flip"), [(0.0, 0.0), (0.0, 0.05), (0.0, 0.1), (0.1, 0.05)])
def test_planted_groups_over_twenty_seeds(noise, flip):
    rand, strong = planted_scores(noise, flip)
    assert np.mean(rand) >= 0.95
    assert np.mean(strong) >= 0.97


@pytest.mark.parametrize("task", FITTED, ids=lambda task: task.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_what_if_equals_a_cold_start(task, seed):
    est = task(seed)
    for question in range(20):
        compare(est, 1000 * seed + question)


@pytest.mark.parametrize("seed", range(20))
def test_cheapest_equals_all_subsets_of_up_to_twelve_features(seed):
    rng = np.random.RandomState(seed)
    data = make_linear_classification(
        60,
        n_strong=int(rng.randint(1, 4)),
        n_weak=int(rng.randint(2, 7)),
        n_irrelevant=int(rng.randint(0, 4)),
        weak=["copies", "combinations"][seed % 2],
        flip=0.1,
        random_state=seed,
    )
    est = ClassificationBounds(C=0.3, cutoff=0.1).fit(data.X, data.y)
    compare_with_all_subsets(est, rng.uniform(0.5, 5.0, est.n_features_in_))
