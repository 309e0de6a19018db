"""Tests of survival bounds: targets, comparable pairs, concordance and errors."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from allrelevant import InputError, SurvivalBounds, bounds_path
from allrelevant.bounds.survival import comparable_pairs, encode_times, read_times
from allrelevant.datasets import make_survival

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 1}


@pytest.fixture(scope="module")
def data():
    return make_survival(60, random_state=0, **COUNTS)


@pytest.fixture(scope="module")
def fitted(data):
    return SurvivalBounds(C=10.0, cutoff=0.5).fit(data.X, data.y)


def naive_concordance(event, time, scores):
    """Harrell's c by its definition."""
    right = total = 0.0
    for i, j in product(range(len(time)), repeat=2):
        if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
            total += 1
            right += 1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j])
    return right / total


class TestTarget:
    def test_structured_arrays_columns_and_frames_are_equivalent(self, data, fitted):
        columns = np.column_stack([data.y["event"], data.y["time"]]).astype(float)
        frame = pd.DataFrame({"died": data.y["event"], "days": data.y["time"]})
        for y in (columns, frame):
            other = SurvivalBounds(C=10.0, cutoff=0.5).fit(data.X, y)
            np.testing.assert_allclose(other.interval_, fitted.interval_)
            assert other.score(data.X, y) == pytest.approx(fitted.score(data.X, data.y))

    def test_times_alone_are_not_censored(self, data):
        event, time = read_times(data.y["time"])
        assert event.all()
        np.testing.assert_allclose(time, data.y["time"])

    def test_ties(self):
        """Two events at the same time are not comparable; an event and a censored time are."""
        codes = encode_times(np.array([True, True, False, True]), np.array([1.0, 1.0, 1.0, 2.0]))
        pairs = set(zip(*comparable_pairs(codes).list_pairs(), strict=True))
        assert pairs == {(0, 2), (1, 2), (0, 3), (1, 3)}

    @pytest.mark.parametrize(
        ("event", "time", "message"),
        [
            ([0, 0, 0, 0], [1, 2, 3, 4], "All rows are censored"),
            ([1, 1, 1, 1], [2, 2, 2, 2], "No pair of rows is comparable"),
            ([0, 0, 0, 1], [1, 2, 3, 4], "No pair of rows is comparable"),
            ([1, 2, 1, 2], [1, 2, 3, 4], "must be 1 .or True. for rows with an event"),
            ([1, 0, 1, 1], [1, 2, np.nan, 4], "NaN"),
        ],
    )
    def test_bad_targets(self, event, time, message):
        with pytest.raises(ValueError, match=message):
            SurvivalBounds(C=1.0).fit(np.arange(8.0).reshape(4, 2) ** 2, np.c_[event, time])

    def test_three_columns_raise(self):
        with pytest.raises(InputError, match="two columns, event and time"):
            SurvivalBounds().fit(np.ones((5, 2)), np.ones((5, 3)))

    def test_privileged_features_are_refused(self, data):
        with pytest.raises(InputError, match="does not support privileged features"):
            SurvivalBounds().fit(data.X, data.y, privileged=data.X)


class TestFit:
    def test_classes_and_counts(self, data, fitted):
        assert fitted.relevance_.tolist() == ["strong", "weak", "weak", "irrelevant"]
        assert (fitted.n_events_, fitted.n_censored_) == (42, 18)
        event, time = data.y["event"], data.y["time"]
        expected = sum(event[i] and time[i] < time[j] for i, j in product(range(60), repeat=2))
        assert fitted.n_pairs_ == expected

    def test_score_is_the_concordance(self, data, fitted):
        rng = np.random.RandomState(0)
        X, y = data.X[:30].round(0), data.y[:30].copy()  # with tied scores and times
        y["time"] = rng.randint(1, 8, 30)
        expected = naive_concordance(y["event"], y["time"], fitted.predict(X))
        assert fitted.score(X, y) == pytest.approx(expected)

    def test_higher_scores_mean_earlier_events(self, data, fitted):
        assert np.corrcoef(fitted.predict(data.X), np.log(data.y["time"]))[0, 1] < -0.5

    def test_a_row_of_weight_two_counts_as_two_rows_in_all_pairs_but_its_own(self, data):
        """A repeated row is not comparable with itself, so weights and copies are equivalent."""
        weight = np.where(np.arange(60) < 20, 2.0, 1.0)
        rows = np.r_[np.arange(60), np.arange(20)]
        settings: dict[str, Any] = {"C": 10.0, "cutoff": 0.5, "standardize": False}
        weighted = SurvivalBounds(**settings).fit(data.X, data.y, sample_weight=weight)
        repeated = SurvivalBounds(**settings).fit(data.X[rows], data.y[rows])
        np.testing.assert_allclose(weighted.interval_, repeated.interval_, atol=1e-5)

    def test_monotone_transformations_of_time_change_nothing(self, data, fitted):
        y = data.y.copy()
        y["time"] = np.log(y["time"])
        other = SurvivalBounds(C=10.0, cutoff=0.5).fit(data.X, y)
        np.testing.assert_allclose(other.interval_, fitted.interval_)

    def test_further_analyses(self, data, fitted):
        assert fitted.what_if({1: "drop"}).relevance_[2] == "strong"
        assert fitted.relations().kind(1, 2) == "substitutes"
        assert [len(model.features) for model in fitted.cheapest()] == [2]
        path = bounds_path(fitted, data.X, data.y, param="norm_slack", values=[0.01, 0.1])
        assert path.to_frame().shape[0] == 8

    def test_document_explains_the_pairs(self, fitted):
        note = fitted._document_parts()["target_note"]
        assert "42 rows have an event, and 30.0% of the rows are censored." in note
        assert f"{fitted.n_pairs_:,} of 1,770 pairs" in note
