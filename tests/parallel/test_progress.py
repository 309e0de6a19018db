"""Tests of progress bars and of loops with a deadline."""

import pickle

from allrelevant.deadline import Deadline
from allrelevant.parallel import progress_bar, timed_map
from allrelevant.parallel.progress import RESOLUTION, JobBar


def test_stages_share_one_bar():
    with JobBar({"first": 1.0, "second": 3.0}, is_shown=True) as bar:
        with progress_bar(bar.stage("first"), 2) as advance:
            advance()
            assert RESOLUTION / 8 <= bar._bar.n < RESOLUTION / 4
            advance()
        with progress_bar(bar.stage("second"), 1) as advance:
            assert RESOLUTION / 4 <= bar._bar.n < RESOLUTION
            advance()
            assert abs(bar._bar.n - RESOLUTION) < 1


def test_bar_moves_within_an_item():
    with JobBar({"only": 1.0}, is_shown=True) as bar, progress_bar(bar.stage("only"), 1):
        bar._item_start -= 10.0  # ten seconds pass
        bar._draw()
        assert 0 < bar._bar.n < RESOLUTION


def test_time_left_ends_at_the_deadline(capsys):
    deadline = Deadline.after(5.0)
    with (
        JobBar({"only": 1.0}, is_shown=True, deadline=deadline) as bar,
        progress_bar(bar.stage("only"), 1000) as advance,
    ):
        bar._bar.start_t -= 100.0  # a hundred seconds pass
        advance()
    assert "01:40, about 00:0" in capsys.readouterr().err


def test_time_left_is_not_estimated_from_almost_nothing(capsys):
    with JobBar({"only": 1.0}, is_shown=True) as bar:
        stage = bar.stage("only")
        with progress_bar(stage, 10**6) as advance:
            advance()
        assert "left" not in capsys.readouterr().err
        with progress_bar(stage, 100) as advance:
            advance()
            advance()
        assert "left" in capsys.readouterr().err


def test_hidden_and_pickled_bars_show_nothing(capsys):
    with JobBar({"only": 1.0}, is_shown=False) as bar:
        assert bar.stage("only") is None
    with JobBar({"only": 1.0}, is_shown=True) as bar:
        assert pickle.loads(pickle.dumps(bar)).stage("only") is None


def test_items_after_the_deadline_are_not_started():
    assert timed_map(lambda item, deadline: item, [1, 2]) == [1, 2]
    over = Deadline.after(-1.0)
    assert timed_map(lambda item, deadline: item, [1, 2], deadline=over) == [None, None]


def test_items_that_reach_the_deadline_have_no_result():
    def check(item: int, deadline: Deadline) -> int:
        if item == 2:
            Deadline.after(-1.0).check()
        return item

    assert timed_map(check, [1, 2, 3], deadline=Deadline.after(60.0)) == [1, None, 3]
