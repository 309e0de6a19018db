"""Tests of relevance bounds for a user-supplied linear mapping."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from allrelevant import GMLVQ, LMNN, InputError, MappingBounds, RelevanceWarning
from tests.bounds.mapping.naive import copies, naive_interval, null_space

ROW = np.array([[1.0, 1.0, 0.0, 0.0]])


def test_copies_are_weak_after_scaling():
    bounds = MappingBounds(ROW, effective_dimension=3).fit(copies())
    assert bounds.relevance_.tolist() == ["strong", "weak", "weak", "irrelevant"]
    X = copies()
    np.testing.assert_allclose(
        bounds.interval_[:, 1] / 1.01,
        [X[:, 0].std(), *[X[:, 1].std()] * 2, 0.0],
        atol=0.03,
    )


def test_interval_is_summed_over_rows():
    X = np.random.RandomState(0).normal(size=(50, 5))
    bounds = MappingBounds(
        np.random.RandomState(1).normal(size=(2, 5)), slack=0.05, effective_dimension=3
    ).fit(X)
    assert bounds.row_interval_.shape == (2, 5, 2)
    np.testing.assert_allclose(bounds.interval_, bounds.row_interval_.sum(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_naive_programs(seed):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(20, 7)) @ rng.normal(size=(7, 7))
    omega = rng.normal(size=(2, 7))
    bounds = MappingBounds(omega, effective_dimension=4, slack=0.02, standardize=False).fit(X)
    null = null_space(X, 4)
    kept = omega - omega @ null @ null.T
    value, vectors = np.linalg.eigh(kept.T @ kept)
    for row, k in enumerate([-1, -2]):
        interval, _ = naive_interval(np.sqrt(value[k]) * vectors[:, k], null, 0.02)
        np.testing.assert_allclose(bounds.row_interval_[row], interval, atol=1e-6)


def test_witnesses_attain_the_bounds_and_are_equivalent_on_the_data():
    X = copies()
    bounds = MappingBounds(ROW, effective_dimension=None).fit(X)
    for feature in range(4):
        witnesses = bounds.witness(feature, "lower"), bounds.witness(feature, "upper")
        for side, witness in enumerate(witnesses):
            assert witness.coef_[feature] == pytest.approx(
                bounds.interval_[feature, side], abs=1e-8
            )
            mapped = (X - X.mean(axis=0)) @ ROW.T
            sign = np.sign(witness.transform(X)[0] * mapped[0])
            np.testing.assert_allclose(sign * witness.transform(X), mapped, atol=1e-7)


def test_default_cutoff_depends_on_the_slack():
    fractions = []
    for slack in (0.01, 0.1):
        bounds = MappingBounds(ROW, slack=slack).fit(copies())
        fractions.append(bounds.cutoff_[0] / bounds.baseline_.norm_)
    np.testing.assert_allclose(fractions, [0.05, 0.2])
    bounds = MappingBounds(ROW, cutoff=0.3).fit(copies())
    np.testing.assert_allclose(bounds.cutoff_, 0.3 * bounds.baseline_.norm_)


def test_names_frame_and_selection():
    frame = pd.DataFrame(copies(), columns=["a", "b", "c", "d"])
    bounds = MappingBounds(ROW, effective_dimension=3).fit(frame)
    assert bounds.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert bounds.to_frame().loc["d", "relevance"] == "irrelevant"
    row = bounds.to_frame(row=0)
    assert row.loc["b", "signed_max"] == pytest.approx(row.loc["b", "upper"])
    assert bounds.witness("b", "upper").coef_[1] == pytest.approx(bounds.interval_[1, 1])
    with pytest.raises(InputError, match="row=1 is out of range"):
        bounds.to_frame(row=1)


@pytest.mark.parametrize(
    "estimator",
    [
        PCA(2),
        LinearDiscriminantAnalysis(),
        PLSRegression(2),
        NeighborhoodComponentsAnalysis(2, random_state=0, max_iter=5),
        LogisticRegression(),
        GMLVQ(rank=2, max_iter=20, tol=1e-3),
        LMNN(rank=2, max_iter=10, tol=1e-2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fitted_and_unfitted_estimators(estimator):
    X = copies()
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    fitted = clone(estimator).fit(X, y)
    bounds = MappingBounds(fitted, effective_dimension=3).fit(X)
    assert bounds.interval_.shape == (4, 2)
    assert not hasattr(bounds, "mapping_")
    from_unfitted = MappingBounds(estimator, effective_dimension=3).fit(X, y)
    assert from_unfitted.mapping_ is not estimator
    frozen = clone(MappingBounds(FrozenEstimator(fitted), effective_dimension=3)).fit(X)
    np.testing.assert_array_equal(frozen.interval_, bounds.interval_)


def test_fitted_estimator_maps_unscaled_tables():
    X = copies()
    pca = PCA(1).fit(X)
    bounds = MappingBounds(pca, effective_dimension=None).fit(X)
    mapped = bounds.baseline_.transform(X).ravel()
    expected = pca.transform(X).ravel()
    np.testing.assert_allclose(mapped, np.sign(mapped[0] * expected[0]) * expected, atol=1e-8)


@pytest.mark.parametrize(
    ("mapping", "X", "message"),
    [
        (np.ones((1, 3)), copies(), "3 columns, but the table has 4"),
        ([[1.0, np.nan, 0.0, 0.0]], copies(), "missing"),
        ([["a", "b", "c", "d"]], copies(), "is not numeric"),
        (np.ones((1, 2, 4)), copies(), "must be a nonempty matrix"),
        (ROW, np.ones((5, 4)), "constant"),
        (np.zeros((1, 4)), copies(), "single point"),
        (ROW, np.full((5, 4), np.nan), "NaN"),
    ],
)
def test_invalid_input_raises(mapping, X, message):
    with pytest.raises(ValueError, match=message):
        MappingBounds(mapping).fit(X)


def test_estimator_without_a_mapping_raises():
    from sklearn.tree import DecisionTreeClassifier

    X = copies()
    with pytest.raises(InputError, match="no linear mapping"):
        MappingBounds(DecisionTreeClassifier()).fit(X, X[:, 0] > 0)


def test_constant_column_is_irrelevant():
    X = copies()
    X[:, 3] = 7.0
    with pytest.warns(RelevanceWarning, match="constant"):
        bounds = MappingBounds([[1.0, 1.0, 0.0, 5.0]], effective_dimension=2).fit(X)
    assert bounds.relevance_.tolist() == ["strong", "weak", "weak", "irrelevant"]
