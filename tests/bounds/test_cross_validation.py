"""Tests of the search for C in large tables with more features than rows."""

import numpy as np
import pytest

from allrelevant.bounds import cross_validation
from allrelevant.bounds.baseline import SEPARATE
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.cross_validation import choose_C, fold_scores
from allrelevant.bounds.tuning import Tuning
from allrelevant.deadline import Deadline
from allrelevant.exceptions import TimeLimitError
from allrelevant.parallel import start_job
from allrelevant.terms.scaling import no_scaling


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 90))
    y = np.where(X[:, 0] + X[:, 1] + rng.standard_normal(60) > 0, 1.0, -1.0)
    return ClassificationData(X, y, np.ones(60))


def choose(table, **run):
    return choose_C(table, table, SEPARATE, no_scaling, Tuning(0), **run)


def test_the_search_ends_when_the_mean_score_no_longer_improves(table, monkeypatch):
    scores = fold_scores(table, SEPARATE, no_scaling, Tuning(0))[:, :, 0].mean(axis=0)
    n_compared = next(
        k + 1
        for k in range(1, len(scores))
        if scores[:k].max() > scores[0]
        and scores[k] - scores[:k].max() <= 0.01 * (scores[:k].max() - scores[0])
    )
    assert n_compared < len(scores)
    best = Tuning(0).values(table)[np.argmax(scores[:n_compared])]
    rounds = []

    def count(*args, **kwargs):
        rounds.append(len(args[3].grid))
        return fold_scores(*args, **kwargs)

    monkeypatch.setattr(cross_validation, "MANY_CELLS", 1000)
    monkeypatch.setattr(cross_validation, "fold_scores", count)
    chosen = choose(table)
    assert abs(chosen.C - best) <= 1e-12
    assert rounds[-1] == n_compared
    assert rounds == list(range(rounds[0], n_compared + 1))
    assert chosen.note is None


def test_scores_of_former_rounds_are_kept_after_the_deadline(table, monkeypatch):
    monkeypatch.setattr(cross_validation, "MANY_CELLS", 1000)
    complete = choose(table)
    calls = []

    def late(*args, **kwargs):
        scores = fold_scores(*args, **kwargs)
        calls.append(scores.shape[1])
        if len(calls) == 2:
            scores[:] = np.nan
        return scores

    monkeypatch.setattr(cross_validation, "fold_scores", late)
    chosen = choose(table)
    assert len(calls) == 2
    assert chosen.C <= complete.C
    assert "time limit" in chosen.note
    with pytest.raises(TimeLimitError):
        choose(table, deadline=Deadline.after(0.0))


def test_rounds_share_the_part_of_the_bar(table, monkeypatch, capsys):
    monkeypatch.setattr(cross_validation, "MANY_CELLS", 1000)
    with start_job({"choosing C": 0.5, "rest": 0.5}, verbose=True) as job:
        choose(table, **job.stage("choosing C", None))
        assert 0.1 < job.bar._position < 0.5
    assert "choosing C" in capsys.readouterr().err
