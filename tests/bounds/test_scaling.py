import numpy as np
import scipy.sparse as sp

from allrelevant.bounds.scaling import no_scaling, standard_scaling


def table(seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(30, 4)) * [1, 10, 0.01, 1e6] + [0, 5, 1, 1e7]
    return X, rng.uniform(0.5, 2.0, 30)


def test_weighted_mean_is_zero_and_variance_one():
    X, weight = table()
    Z = standard_scaling(X, weight).apply(X)
    np.testing.assert_allclose(np.average(Z, axis=0, weights=weight), 0, atol=1e-8)
    np.testing.assert_allclose(np.average(Z**2, axis=0, weights=weight), 1, atol=1e-8)


def test_sparse_tables_stay_sparse_and_uncentred():
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


def test_no_scaling_leaves_the_rest_as_it_is():
    X, weight = table()
    np.testing.assert_array_equal(no_scaling(X, weight).apply(X), X)
