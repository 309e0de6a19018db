import time

import pytest

from allrelevant.parallel import run_tasks


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def slow_first(task):
        time.sleep(0.05 if task == 0 else 0.0)
        return task * 10

    assert run_tasks(slow_first, range(4), n_jobs=n_jobs) == [0, 10, 20, 30]


def test_no_tasks_no_results():
    assert run_tasks(str, []) == []


def test_an_error_in_a_task_is_raised():
    def fail(task):
        raise ArithmeticError(f"task {task}")

    with pytest.raises(ArithmeticError, match="task 1"):
        run_tasks(fail, [1], n_jobs=2)


def test_progress_goes_to_standard_error(capsys):
    run_tasks(str, [1, 2], progress="counting")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "counting" in captured.err
