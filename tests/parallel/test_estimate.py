"""Tests of the announcement of long runs."""

import warnings

import pytest

from allrelevant import RelevanceWarning
from allrelevant.parallel import DurationEstimate


class Clock:
    """Clock on which each step takes a given number of seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = -seconds

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


def test_a_long_run_is_announced_once():
    estimate = DurationEstimate(300, "Use n_jobs.", Clock(0.5))
    counted = []
    advance = estimate.counting(lambda: counted.append(1))

    def run() -> None:
        for _ in range(300):
            advance()

    with pytest.warns(RelevanceWarning, match=r"about 2 minutes\. Use n_jobs\.") as caught:
        run()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(counted) == 300


def test_short_runs_are_not_announced():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seconds, n_steps in ((0.1, 300), (3.0, 10), (0.001, 1_000)):
            estimate = DurationEstimate(n_steps, "", Clock(seconds))
            for _ in range(n_steps):
                estimate.advance()
