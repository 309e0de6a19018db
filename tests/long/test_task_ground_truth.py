"""Tests that default settings find the relevant features of each task (docs/tasks.md)."""

from functools import partial

import pytest

from allrelevant.datasets import make_privileged
from benchmarks.task_ground_truth import ESTIMATORS, FEATURE_NOISE, PLAIN, mean_f1

# The last task shows the limits of the method and has no guarantee.
WITHIN_REACH = PLAIN[:3]


@pytest.mark.parametrize(
    ("task", "clean", "noisy", "noise"), WITHIN_REACH, ids=[task for task, *_ in WITHIN_REACH]
)
def test_each_task(task, clean, noisy, noise):
    assert mean_f1(task, clean).own >= 0.97
    assert mean_f1(task, noisy).own >= 0.95


@pytest.mark.parametrize("task", ESTIMATORS)
@pytest.mark.parametrize(("noise", "at_least"), [(0.0, 0.97), (FEATURE_NOISE, 0.95)])
def test_each_task_with_privileged_features(task, noise, at_least):
    own, _, privileged = mean_f1(task, partial(make_privileged, task, noise=noise))
    assert own >= at_least
    assert privileged is not None
    assert privileged >= at_least
