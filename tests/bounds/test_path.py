"""Tests that a path over a parameter gives the same results as separate fits."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from allrelevant import ClassificationBounds, InputError, RegressionBounds, bounds_path
from allrelevant.bounds.path import runs_of_equal_values
from allrelevant.datasets import make_linear_classification, make_linear_regression

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}


@pytest.fixture(scope="module")
def data():
    return make_linear_classification(100, flip=0.1, random_state=0, **COUNTS)


@pytest.mark.parametrize(
    ("param", "values"), [("C", [0.05, 0.5, 5.0]), ("norm_slack", [0.0, 0.01, 0.3])]
)
def test_path_with_fixed_cutoff_equals_separate_fits(data, param, values):
    estimator = ClassificationBounds(C=1.0, cutoff=0.1)
    path = bounds_path(estimator, data.X, data.y, param=param, values=values)
    assert path.values.tolist() == values
    for index, value in enumerate(values):
        fit = ClassificationBounds(C=1.0, cutoff=0.1).set_params(**{param: value})
        fit.fit(data.X, data.y)
        np.testing.assert_allclose(path.interval[index], fit.interval_, atol=1e-7)
        assert path.relevance[index].tolist() == fit.relevance_.tolist()
        np.testing.assert_allclose(path.baseline[index], fit.baseline_.coef_, atol=1e-7)


def test_larger_norm_slack_never_narrows_intervals(data):
    path = bounds_path(ClassificationBounds(C=1.0, cutoff=0.1), data.X, data.y, param="norm_slack")
    assert len(path.values) == 20
    assert (np.diff(path.interval[:, :, 1], axis=0) >= -1e-8).all()
    assert (np.diff(path.interval[:, :, 0], axis=0) <= 1e-8).all()


def test_estimated_cutoffs_at_the_ends_equal_those_of_a_fit(data):
    estimator = ClassificationBounds(C=1.0, random_state=0)
    path = bounds_path(estimator, data.X, data.y, values=[0.1, 0.3, 1.0, 3.0])
    for index in (0, -1):
        fit = ClassificationBounds(C=path.values[index], random_state=0).fit(data.X, data.y)
        assert path.relevance[index].tolist() == fit.relevance_.tolist()


def test_all_features_are_irrelevant_if_the_baseline_uses_none(data):
    path = bounds_path(ClassificationBounds(random_state=0), data.X, data.y, values=[1e-6, 1.0])
    assert (path.relevance[0] == "irrelevant").all()
    assert (path.relevance[1] != "irrelevant").any()


def test_frames_are_tidy_and_ranges_cover_the_path(data):
    path = bounds_path(ClassificationBounds(cutoff=0.1), data.X, data.y)
    frame = path.to_frame()
    assert list(frame.columns[:3]) == ["C", "feature", "relevance"]
    assert len(frame) == 20 * 5
    ranges = path.class_ranges()
    assert (ranges.groupby("feature")["n_values"].sum() == 20).all()
    assert (ranges["first"] <= ranges["last"]).all()


def test_three_classes_and_workers(data):
    y = np.digitize(data.X[:, 0], [-0.5, 0.5])
    estimator = ClassificationBounds(C=1.0, cutoff=0.1)
    alone = bounds_path(estimator, data.X, y, values=[0.1, 1.0])
    two = bounds_path(estimator.set_params(n_jobs=2), data.X, y, values=[0.1, 1.0])
    assert alone.norm.shape == (2, 3)
    np.testing.assert_array_equal(alone.interval, two.interval)


def test_regression_keeps_its_epsilon():
    data = make_linear_regression(60, target_noise=0.2, random_state=0, **COUNTS)
    path = bounds_path(
        RegressionBounds(random_state=0, cutoff=0.1), data.X, data.y, values=[0.1, 1]
    )
    assert path.relevance.shape == (2, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"param": "fpr"}, "'C' or 'norm_slack'"),
        ({"values": [0.0, 1.0]}, "above 0"),
        ({"values": []}, "at least one"),
        ({"param": "norm_slack", "values": [-0.1]}, "at least 0"),
        ({"values": [np.nan]}, "at most"),
    ],
)
def test_invalid_options_raise(data, options, message):
    with pytest.raises(InputError, match=message):
        bounds_path(ClassificationBounds(), data.X, data.y, **options)


def test_other_estimators_raise(data):
    with pytest.raises(InputError, match="LogisticRegression"):
        bounds_path(LogisticRegression(), data.X, data.y)


def test_runs_of_equal_values():
    assert runs_of_equal_values(["weak", "weak", "strong"]) == [("weak", 0, 2), ("strong", 2, 3)]
