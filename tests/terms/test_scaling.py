import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant.terms.blocks import Block
from allrelevant.terms.layout import WeightLayout
from allrelevant.terms.scaling import (
    StandardScaling,
    constant_features,
    deviations,
    low_variance_features,
    no_scaling,
    scale_by_rows,
    standard_scaling,
    standardize_columns,
)


def table(seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(30, 4)) * [1, 10, 0.01, 1e6] + [0, 5, 1, 1e7]
    return X, rng.uniform(0.5, 2.0, 30)


def test_weighted_mean_is_zero_and_variance_one():
    X, weight = table()
    Z = standard_scaling(X, weight).apply(X)
    np.testing.assert_allclose(np.average(Z, axis=0, weights=weight), 0, atol=1e-8)
    np.testing.assert_allclose(np.average(Z**2, axis=0, weights=weight), 1, atol=1e-8)


def test_sparse_tables_stay_sparse_and_uncentered():
    X, weight = table()
    X[np.median(X, axis=0) > X] = 0
    Z = standard_scaling(sp.csr_array(X), weight).apply(sp.csr_array(X))
    assert sp.issparse(Z)
    assert ((Z.toarray() == 0) == (X == 0)).all()
    variance = np.average((Z.toarray() - np.average(Z.toarray(), axis=0, weights=weight)) ** 2,
                          axis=0, weights=weight)  # fmt: skip
    np.testing.assert_allclose(variance, 1)


def test_constant_columns_are_found_despite_rounding():
    X, weight = table()
    X[:, 1] = 0.1
    X[:, 3] = 1e9
    for fit in (standard_scaling, no_scaling):
        for kind in (np.asarray, sp.csr_array):
            scaling = fit(kind(X), weight)
            assert scaling.constant.tolist() == [False, True, False, True]
            Z = scaling.apply(kind(X))
            Z = Z.toarray() if sp.issparse(Z) else Z
            assert (Z[:, [1, 3]] == 0).all()


def test_no_scaling_changes_no_other_column():
    X, weight = table()
    np.testing.assert_array_equal(no_scaling(X, weight).apply(X), X)


def test_constant_columns_are_found_despite_an_inexact_mean():
    """Constant columns are detected although rounding makes their computed mean inexact."""
    rng = np.random.RandomState(0)
    X = np.column_stack([np.full(20_000, 7.3), rng.normal(size=20_000)])
    weight = rng.uniform(0.5, 2.0, 20_000)
    weight[0], X[0, 0] = 0.0, 5.0  # rows of weight zero are ignored
    naive = 0.0
    for fraction in weight / weight.sum():
        naive += fraction * 7.3
    assert abs(naive - 7.3) > 10 * np.finfo(float).eps * 7.3
    for fit in (standard_scaling, no_scaling):
        for kind in (np.asarray, sp.csr_array):
            assert fit(kind(X), weight).constant.tolist() == [True, False]


def test_columns_that_differ_only_in_the_last_digits_are_constant():
    X = np.column_stack([np.full(30, 0.1), np.arange(30.0)])
    X[::2, 0] = np.nextafter(0.1, 1.0)
    assert standard_scaling(X, np.ones(30)).constant.tolist() == [True, False]
    X[::2, 0] = 0.1 + 1e-13
    assert standard_scaling(X, np.ones(30)).constant.tolist() == [False, False]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_unweighted_column_statistics(kind):
    X = np.array([[1.0, 2.0, 0.0, 0.1], [1.0, 4.0, 0.0, 0.3], [1.0, 3.0, 0.0, 0.2]])
    assert constant_features(kind(X)) == [0, 2]
    np.testing.assert_allclose(deviations(kind(X)), X.std(axis=0), atol=1e-12)
    assert low_variance_features(kind(X), 0.0) == [0, 2]
    assert low_variance_features(kind(X), 0.1) == [0, 2, 3]


def test_the_variance_of_a_constant_column_is_exactly_zero():
    X = np.full((7, 1), 0.1)
    assert low_variance_features(X, 0.0) == [0]


def test_columns_are_standardized_and_constant_columns_centered():
    scaled = standardize_columns(np.array([[1.0, 0.1], [3.0, 0.1], [8.0, 0.1]]))
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), [1.0, 0.0], atol=1e-12)


def test_target_scaling_is_invertible():
    values = np.array([3.0, 5.0, 10.0])
    scaling = StandardScaling(float(values.mean()), float(values.std()))
    assert scaling.apply(values).std() == pytest.approx(1.0)
    np.testing.assert_allclose(scaling.undo(scaling.apply(values)), values)


def test_missing_values_are_replaced_by_the_median_of_the_given_rows() -> None:
    layout = WeightLayout(2, blocks={0: Block("group", ("value", "(missing)"))})
    X = np.array([[1.0, 0, 3], [2, 0, 1], [6, 0, 5], [np.nan, 1, 4], [9, 0, 2], [np.nan, 1, 7]])
    rows = np.array([0, 1, 2, 3])
    filled = scale_by_rows(X, rows, layout, None, standardize=False)
    np.testing.assert_array_equal(filled[:, 0], [1, 2, 6, 2, 9, 2])
    np.testing.assert_array_equal(filled[:, 1:], X[:, 1:])
    scaled = scale_by_rows(X, rows, layout, None, standardize=True)
    np.testing.assert_allclose(scaled[rows].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled[rows].std(axis=0), 1)


def test_features_with_several_columns_vary_if_any_column_does() -> None:
    layout = WeightLayout(3, blocks={1: Block("group", ("value", "(missing)"))})
    X = np.array([[1.0, np.nan, 1, 4], [1, 3, 0, 6], [1, 3, 0, 8]])
    assert low_variance_features(X, 0.0, layout) == [0]
    assert low_variance_features(X, 1.0, layout) == [0, 1]
    scaled = scale_by_rows(X, np.arange(3), layout, None, standardize=True)
    assert constant_features(scaled, layout) == [0]
    assert low_variance_features(X[:, [0, 3]], 0.0, weight=np.array([1.0, 0, 0])) == [0, 1]
