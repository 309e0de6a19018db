"""Tests of deadlines."""

import pytest

from allrelevant.deadline import NO_DEADLINE, Deadline, attempt
from allrelevant.exceptions import TimeLimitError


@pytest.fixture
def now(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    return clock


def test_no_limit_never_ends():
    assert not NO_DEADLINE.is_set
    assert not NO_DEADLINE.is_over
    assert NO_DEADLINE.seconds_left is None
    assert NO_DEADLINE.share(0.1) is NO_DEADLINE
    NO_DEADLINE.check()


def test_deadline_ends(now):
    deadline = Deadline.after(10.0)
    assert deadline.seconds_left == pytest.approx(10.0)
    deadline.check()
    now[0] += 10.0
    assert deadline.seconds_left == 0
    with pytest.raises(TimeLimitError, match="Increase max_seconds"):
        deadline.check()
    assert attempt(deadline.check) is None
    assert attempt(lambda: 1) == 1


def test_each_item_leaves_equal_time(now):
    deadline = Deadline.after(12.0)
    assert deadline.share(0.25).seconds_left == pytest.approx(3.0)
    assert deadline.for_item(0, 4).seconds_left == pytest.approx(3.0)
    assert deadline.for_item(2, 4).seconds_left == pytest.approx(6.0)
    assert deadline.for_item(0, 4, n_workers=2).seconds_left == pytest.approx(6.0)
