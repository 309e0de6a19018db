"""Why a training failed, in one line."""

import pytest
from sklearn.linear_model import LogisticRegression

from allrelevant import InputError, SaliencySelector
from allrelevant.exceptions import WorkerDiedError
from allrelevant.saliency.trainers import training_errors_in_one_line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("No rows."), "Here: No rows."),
        (RuntimeError("Sizes differ.\nException raised from f"), "Here: Sizes differ."),
        (RuntimeError("CUDA out of memory."), "Here: CUDA out of memory (lower batch_size, or use"),
        (RuntimeError(), "Here: RuntimeError"),
        (ValueError("optimizer got an empty parameter list"), "list (the network has no weights"),
        (
            RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 6x8)"),
            "keep_shape=True",
        ),
    ],
)
def test_what_and_why(error, line):
    with pytest.raises(InputError) as caught, training_errors_in_one_line("Here"):
        raise error
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [WorkerDiedError("Task 3 died."), KeyError("a"), TypeError("b")])
def test_a_worker_that_died_and_bugs_stay_what_they_are(error):
    with pytest.raises(type(error)) as caught, training_errors_in_one_line("Here"):
        raise error
    assert caught.value is error


class Refusing(LogisticRegression):
    """What torch does with rows of another width, from the second round on."""

    def fit(self, X, y):
        if X.shape[1] < 4:
            raise RuntimeError("shapes cannot be multiplied\nin a long story")
        return super().fit(X, y)


def test_the_round_and_the_last_training_are_named():
    X, y = [[0.0, 1, 2, 0], [1, 0, 2, 1], [0, 1, 0, 1], [1, 0, 1, 1]], [0, 1, 0, 1]
    with pytest.raises(InputError, match=r"^Round 2 of 2, on 2 features: shapes .*keep_shape"):
        SaliencySelector(Refusing(), keep_fraction=0.5, n_repeats=1).fit(X, y)
    with pytest.raises(InputError, match=r"^The training on the 2 features selected: shapes"):
        SaliencySelector(Refusing(), keep_fraction=0.0, n_repeats=1).fit(X, y)
