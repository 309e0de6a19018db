"""Tests of numbers far out of range, in tables, targets, weights and settings."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.svm import SVC

from allrelevant import (
    GMLVQ,
    LMNN,
    SVMRFE,
    ClassificationBounds,
    MetricBounds,
    RegressionBounds,
    SaliencySelector,
)
from allrelevant._validation import check_column_sizes
from allrelevant.cli.group import cli
from allrelevant.exceptions import InputError

ESTIMATORS = {
    "bounds": ClassificationBounds(C=1.0, cutoff=0.1, random_state=0),
    "rfe": SVMRFE(n_features_to_select=1),
    "saliency": SaliencySelector(SVC(kernel="linear"), n_features_to_select=1, random_state=0),
    "gmlvq": GMLVQ(max_iter=5, random_state=0),
    "lmnn": LMNN(max_iter=5, random_state=0),
    "metric": MetricBounds(GMLVQ(max_iter=5, random_state=0), effective_dimension=1),
}
HUGE_INTEGER = 10**400


@pytest.fixture(params=list(ESTIMATORS.values()), ids=list(ESTIMATORS))
def estimator(request):
    return clone(request.param)


@pytest.fixture
def table():
    y = np.repeat([0, 1], 15)
    return np.random.RandomState(0).normal(size=(30, 3)) + np.outer(y, [2, 0, 0]), y


@pytest.mark.parametrize("factor", [1e155, 1e300, 1e-163, 1e-310])
def test_columns_out_of_range_are_refused(estimator, table, factor):
    X, y = table
    with pytest.raises(InputError, match=r"column 'x0' are too (large|small)"):
        estimator.fit(X * [factor, 1.0, 1.0], y)


@pytest.mark.parametrize("factor", [1e90, 1e-90])
def test_columns_within_the_range_do_not_change_the_result(table, factor):
    X, y = table
    plain = clone(ESTIMATORS["bounds"]).fit(X, y)
    for convert in (np.asarray, sp.csr_array):
        scaled = clone(ESTIMATORS["bounds"]).fit(convert(X * [factor, 1.0, 1.0]), y)
        assert scaled.relevance_.tolist() == plain.relevance_.tolist()


def test_sparse_columns_targets_and_weights_out_of_range_are_refused(table):
    X, y = table
    bounds = ESTIMATORS["bounds"]
    with pytest.raises(InputError, match="too large"):
        clone(bounds).fit(sp.csr_array(X * [1.0, 1e160, 1.0]), y)
    for factor in (1e155, 1e-163):
        with pytest.raises(InputError, match=r"numbers in the target are too"):
            RegressionBounds(C=1.0).fit(X, factor * X[:, 0])
        with pytest.raises(InputError, match=r"numbers in the sample weights are too"):
            clone(bounds).fit(X, y, sample_weight=np.full(len(y), factor))
    fitted = clone(bounds).fit(X, y)
    with pytest.raises(InputError, match="costs are too large"):
        fitted.cheapest([1e308, 1.0, 1.0])
    with pytest.raises(InputError, match="An integer in the costs"):
        fitted.cheapest([HUGE_INTEGER, 1, 1])


def test_tables_that_are_not_standardized_have_a_smaller_range(table):
    X, y = table
    for name in ("bounds", "rfe", "saliency", "metric"):
        with pytest.raises(InputError, match=r"at most 1e\+12"):
            clone(ESTIMATORS[name]).set_params(standardize=False).fit(X * 1e20, y)


def test_huge_integers_are_refused(estimator, table):
    X, y = table
    objects = X.astype(object)
    objects[3, 1] = HUGE_INTEGER
    message = "An integer in {} is too large"
    with pytest.raises(InputError, match=message.format("X")):
        estimator.fit(objects, y)
    with pytest.raises(InputError, match=message.format("column 'b'")):
        estimator.fit(pd.DataFrame(objects, columns=list("abc")), y)
    labels = np.array([HUGE_INTEGER + label for label in y.tolist()], dtype=object)
    with pytest.raises(InputError, match=message.format("the target")):
        estimator.fit(X, labels)
    with pytest.raises(InputError, match=message.format("the target")):
        RegressionBounds(C=1.0).fit(X, labels)


def test_labels_that_cannot_be_distinguished_or_compared_are_refused(estimator, table):
    X, y = table
    with pytest.raises(InputError, match=r"at most 2\*\*53"):
        estimator.fit(X, np.where(y == 1, 1e300, 2e300))
    with pytest.raises(InputError, match="partly text, such as 'a'"):
        estimator.fit(X, np.array(["a" if label else 3 for label in y], dtype=object))


@pytest.mark.parametrize("name", ["gmlvq", "lmnn", "metric"])
def test_text_columns_are_named(table, name):
    X, y = table
    frame = pd.DataFrame(X, columns=["age", "dose", "site"]).assign(site="Bern")
    with pytest.raises(InputError, match="Column 'site' contains text"):
        clone(ESTIMATORS[name]).fit(frame, y)


@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf, 1e308, "a"])
@pytest.mark.parametrize("name", ["bounds", "rfe"])
def test_invalid_class_weights_are_refused(table, name, weight):
    with pytest.raises(InputError, match="The weight of class 1 must be a number from"):
        clone(ESTIMATORS[name]).set_params(class_weight={1: weight}).fit(*table)


@pytest.mark.parametrize("index", [77, -5])
def test_sparse_indices_out_of_range_are_refused(estimator, table, index):
    X, y = table
    for kind in (sp.csr_array, sp.csc_array):
        damaged = kind(X)
        damaged.indices[5] = index
        with pytest.raises(InputError, match="sparse table X is not valid"):
            estimator.fit(damaged, y)
    fitted = estimator.fit(X, y)
    with pytest.raises(InputError, match="sparse table X is not valid"):
        fitted.transform(damaged)


SETTINGS = [
    ("bounds", {"norm_slack": 1e308}),
    ("bounds", {"loss_slack": 1e308}),
    ("bounds", {"loss_tol": 1e308}),
    ("bounds", {"C": 1e308}),
    ("bounds", {"C": "cv", "Cs": [1.0, 1e308]}),
    ("bounds", {"cutoff": 1e308}),
    ("bounds", {"n_probes": 100_000_000}),
    ("bounds", {"fdr": 1e-9}),
    ("bounds", {"fpr": 1e-300}),
    ("bounds", {"curves": 10**9}),
    ("rfe", {"C": 1e308}),
    ("rfe", {"C": [1.0, 1e308]}),
    ("rfe", {"kernel": "rbf", "gamma": 1e308}),
    ("rfe", {"kernel": "poly", "degree": 10**9}),
    ("rfe", {"kernel": "poly", "coef0": 1e308}),
    ("rfe", {"tol": 1e308}),
    ("saliency", {"n_repeats": 10**9}),
    ("gmlvq", {"regularization": 1e308}),
    ("gmlvq", {"max_iter": 10**9}),
    ("metric", {"slack": 1e308}),
]


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=str)
def test_absurd_settings_are_refused(table, name, settings):
    with pytest.raises(ValueError, match=r"range|at most|too large"):
        clone(ESTIMATORS[name]).set_params(**settings).fit(*table)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "--norm-slack", "1e308"],
        ["report", "--loss-slack", "1e308"],
        ["report", "--loss-tol", "1e308"],
        ["report", "--n-probes", "100000000"],
        ["report", "--fdr", "1e-9"],
        ["report", "--C", "1e308"],
        ["report", "--folds", "1000000000"],
        ["select", "--candidates", "1000000000"],
        ["select", "--repeats", "9" * 5000],
        ["explain", "--row", "1", "--gamma", "1e308"],
    ],
    ids=" ".join,
)
def test_absurd_options_are_refused(arguments):
    done = CliRunner().invoke(cli, [*arguments, "table.csv", "--target", "y"])
    assert done.exit_code == 2
    assert any(word in done.stderr for word in ("at most", "at least", "from 1 to", "range"))


@pytest.mark.parametrize(
    "values", ["inf,-inf", "1e308,-1e308", "1e-200,2e-200", f"{HUGE_INTEGER},1", "1e300,2e300"]
)
@pytest.mark.parametrize("command", ["report", "select", "explain"])
def test_command_prints_a_one_line_error_for_odd_numbers(tmp_path, monkeypatch, command, values):
    monkeypatch.chdir(tmp_path)
    first, second = values.split(",")
    lines = [f"{(first, second)[i % 2]},{i * i % 7},{i % 2}" for i in range(40)]
    (tmp_path / "odd.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    options = ["--row", "1"] if command == "explain" else []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = CliRunner().invoke(cli, [command, "odd.csv", "-t", "y", *options])
    assert done.exit_code == 2
    *notes, error = done.stderr.splitlines()
    assert error.startswith("Error: ")
    assert "'a'" in error
    assert all(note.startswith(("Note: ", "Task: ")) for note in notes), done.stderr


def test_single_precision_gives_no_warning():
    X = np.random.RandomState(0).normal(size=(40, 3)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_column_sizes(X, ["a", "b", "c"])
