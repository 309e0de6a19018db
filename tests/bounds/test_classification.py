"""Tests of the public interface of `ClassificationBounds`."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from allrelevant import ClassificationBounds, InputError, RelevanceWarning
from allrelevant.datasets import make_linear_classification


@pytest.fixture(scope="module")
def data():
    return make_linear_classification(
        150, n_strong=2, n_weak=2, n_irrelevant=3, flip=0.05, random_state=0
    )


@pytest.fixture(scope="module")
def fitted(data):
    return ClassificationBounds(random_state=0, n_probes=15).fit(data.X, data.y)


def quick(**kwargs):
    """Return a `ClassificationBounds` that is fast to fit, because C and the cutoff are fixed."""
    return ClassificationBounds(**{"C": 1.0, "cutoff": 0.1, **kwargs})


def assert_same_result(first, second):
    for name in ("interval_", "signed_interval_", "gap_", "cutoff_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert (first.relevance_ == second.relevance_).all()
    np.testing.assert_array_equal(first.baseline_.coef_, second.baseline_.coef_)


def test_shapes_and_order(fitted):
    d = fitted.n_features_in_
    assert fitted.interval_.shape == fitted.signed_interval_.shape == fitted.gap_.shape == (d, 2)
    assert (fitted.interval_[:, 0] <= fitted.interval_[:, 1]).all()
    assert (fitted.interval_ >= 0).all()
    assert fitted.cutoff_.shape == (2,)
    assert fitted.class_interval_.shape == (1, d, 2)
    assert fitted.gap_.max() <= 1e-6
    assert 0.5 < fitted.cv_score_ <= 1


def test_baseline_is_within_every_range(fitted):
    coef = fitted.baseline_.coef_
    assert (fitted.signed_interval_[:, 0] <= coef + 1e-9).all()
    assert (coef <= fitted.signed_interval_[:, 1] + 1e-9).all()
    assert fitted.baseline_.norm_ == pytest.approx(np.abs(coef).sum())


def test_absolute_interval_follows_from_the_signed_one(fitted):
    low, high = fitted.signed_interval_.T
    np.testing.assert_allclose(fitted.interval_[:, 1], np.maximum(abs(low), abs(high)))
    np.testing.assert_allclose(fitted.interval_[:, 0], np.maximum(0, np.maximum(low, -high)))


def test_same_seed_gives_the_same_result_for_any_n_jobs(data, fitted):
    assert_same_result(fitted, clone(fitted).set_params(n_jobs=2).fit(data.X, data.y))
    assert_same_result(fitted, clone(fitted).fit(data.X, data.y))


def test_result_of_many_features_does_not_depend_on_n_jobs():
    data = make_linear_classification(40, n_strong=2, n_weak=2, n_irrelevant=126, random_state=1)
    one, two = (quick(n_jobs=n).fit(data.X, data.y) for n in (1, 2))
    assert_same_result(one, two)


@pytest.mark.parametrize("formulation", ["separate", "joint"])
def test_witnesses_attain_the_bounds_on_unscaled_data(data, formulation):
    bounds = quick(formulation=formulation, norm_slack=0.1, loss_slack=0.05).fit(data.X, data.y)
    scaled = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    target = 2.0 * data.y - 1.0
    for feature in range(data.X.shape[1]):
        for side, name in enumerate(["lower", "upper"]):
            witness = bounds.witness(feature, name)
            attained = abs(witness.coef_[feature])
            assert attained == pytest.approx(bounds.interval_[feature, side], abs=1e-6)
            decision = scaled @ witness.coef_ + witness.intercept_
            np.testing.assert_allclose(witness.decision_function(data.X), decision, atol=1e-9)
            loss = np.maximum(0, 1 - target * decision).sum()
            norm_limit = 1.1 * bounds.baseline_.norm_
            loss_limit = 1.05 * bounds.baseline_.loss_ + 1e-6
            if formulation == "separate":
                assert np.abs(witness.coef_).sum() <= norm_limit + 1e-6
                assert loss <= loss_limit + 1e-6
            else:
                assert np.abs(witness.coef_).sum() + loss <= norm_limit + loss_limit + 1e-6


def test_witness_by_name_and_by_index_is_the_same(data):
    names = [f"feature {j}" for j in range(data.X.shape[1])]
    bounds = quick().fit(pd.DataFrame(data.X, columns=names), data.y)
    by_name, by_index = bounds.witness("feature 2", "upper"), bounds.witness(2, "upper")
    np.testing.assert_array_equal(by_name.coef_, by_index.coef_)
    with pytest.raises(InputError, match="No feature is called 'feature 99'"):
        bounds.witness("feature 99", "upper")
    with pytest.raises(InputError, match="out of range"):
        bounds.witness(99, "upper")
    with pytest.raises(InputError, match="'lower' or 'upper'"):
        bounds.witness(0, "middle")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_are_kept(data, frame):
    names = [f"f{j}" for j in range(data.X.shape[1])]
    table = frame(dict(zip(names, data.X.T, strict=True)))
    bounds = quick().fit(table, data.y)
    kept = [name for name, r in zip(names, bounds.relevance_, strict=True) if r != "irrelevant"]
    assert bounds.get_feature_names_out().tolist() == kept
    assert bounds.to_frame().index.tolist() == names
    assert bounds.predict(table).shape == (len(data.y),)


@pytest.mark.parametrize(
    ("container", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_set_output(data, container, kind):
    table = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.X.shape[1])])
    selected = quick().set_output(transform=container).fit(table, data.y).transform(table)
    assert isinstance(selected, kind)
    assert list(selected.columns) == quick().fit(table, data.y).get_feature_names_out().tolist()


def test_works_in_pipelines_and_grid_search(data):
    pipeline = make_pipeline(quick(), LogisticRegression())
    grid = GridSearchCV(pipeline, {"classificationbounds__cutoff": [0.05, 0.2]}, cv=2)
    assert grid.fit(data.X, data.y).score(data.X, data.y) > 0.8


def test_pickling_preserves_the_result(data, fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    assert_same_result(fitted, copy)
    np.testing.assert_array_equal(copy.predict(data.X), fitted.predict(data.X))
    np.testing.assert_array_equal(copy.witness(0, "upper").coef_, fitted.witness(0, "upper").coef_)


def test_sparse_tables_are_scaled_but_not_centered(data):
    X = np.where(np.abs(data.X) > 0.5, data.X, 0.0)
    sparse = quick().fit(sp.csr_matrix(X), data.y)
    # The intercept absorbs the centering, so a table that is only scaled gives the same result.
    dense = quick(standardize=False).fit(X / X.std(axis=0), data.y)
    np.testing.assert_allclose(sparse.interval_, dense.interval_, atol=1e-7)
    assert (sparse.predict(sp.csr_matrix(X)) == dense.predict(X / X.std(axis=0))).all()
    assert sp.issparse(sparse.transform(sp.csr_matrix(X)))


def test_intervals_of_standardized_features_do_not_depend_on_units(data):
    units = 10.0 ** np.arange(-3, data.X.shape[1] - 3)
    original, converted = quick().fit(data.X, data.y), quick().fit(data.X * units + 5, data.y)
    np.testing.assert_allclose(original.interval_, converted.interval_, atol=1e-6)


def test_integer_sample_weight_is_equivalent_to_repeating_rows(data):
    weight = np.resize([2, 1, 0], len(data.y))
    repeated = np.repeat(np.arange(len(data.y)), weight)
    weighted = quick().fit(data.X, data.y, sample_weight=weight)
    expected = quick().fit(data.X[repeated], data.y[repeated])
    np.testing.assert_allclose(weighted.interval_, expected.interval_, atol=1e-6)


def test_balanced_class_weights_have_equal_totals(data):
    rows = np.r_[np.flatnonzero(data.y == 0)[:10], np.flatnonzero(data.y == 1)]
    X, y = data.X[rows], data.y[rows]
    balanced = quick(class_weight="balanced").fit(X, y)
    class_weight = len(y) / (2 * np.bincount(y))
    explicit = quick(class_weight=dict(enumerate(class_weight))).fit(X, y)
    np.testing.assert_allclose(balanced.interval_, explicit.interval_, atol=1e-9)
    assert balanced.predict(X).mean() < quick().fit(X, y).predict(X).mean()


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True)


@pytest.fixture(scope="module")
def bounds(iris):
    return quick(cutoff=0.3).fit(iris.data, iris.target_names[iris.target])


class TestMoreThanTwoClasses:
    def test_shapes(self, bounds):
        assert bounds.class_interval_.shape == (3, 4, 2)
        assert bounds.class_relevance_.shape == (3, 4)
        assert bounds.cutoff_.shape == (3, 2)
        assert bounds.baseline_.coef_.shape == (3, 4)
        assert bounds.classes_.tolist() == ["setosa", "versicolor", "virginica"]

    def test_each_class_matches_its_one_vs_rest_problem(self, iris, bounds):
        for code in range(3):
            alone = quick(cutoff=0.3).fit(iris.data, iris.target == code)
            np.testing.assert_allclose(bounds.class_interval_[code], alone.interval_, atol=1e-9)
            assert (bounds.class_relevance_[code] == alone.relevance_).all()

    def test_overall_relevance_is_the_strongest_over_classes(self, bounds):
        by_class = bounds.class_relevance_
        for feature, overall in enumerate(bounds.relevance_):
            relevances = set(by_class[:, feature])
            expected = next(c for c in ("strong", "weak", "irrelevant") if c in relevances)
            assert overall == expected

    def test_predictions_and_witnesses_by_class(self, iris, bounds):
        assert bounds.score(iris.data, iris.target_names[iris.target]) > 0.85
        upper = bounds.witness("petal width (cm)", "upper", label="virginica")
        assert abs(upper.coef_[3]) == pytest.approx(bounds.class_interval_[2, 3, 1], abs=1e-6)
        overall = bounds.witness("petal width (cm)", "upper")
        assert abs(overall.coef_[3]) == pytest.approx(bounds.interval_[3, 1], abs=1e-6)
        with pytest.raises(InputError, match="'rose' is not a class"):
            bounds.witness(0, "upper", label="rose")


class TestUnusualTables:
    def test_constant_columns_are_irrelevant_and_named_in_a_warning(self, data):
        table = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.X.shape[1])])
        table.insert(1, "always 7", 7.0)
        with pytest.warns(RelevanceWarning, match="1 constant column.*'always 7'"):
            bounds = quick().fit(table, data.y)
        assert bounds.relevance_[1] == "irrelevant"
        assert (bounds.interval_[1] == 0).all()
        assert bounds.witness("always 7", "upper").coef_[1] == 0
        others = quick().fit(data.X, data.y)
        np.testing.assert_allclose(np.delete(bounds.interval_, 1, axis=0), others.interval_)

    def test_one_feature(self, data):
        bounds = ClassificationBounds(random_state=0, n_probes=15).fit(data.X[:, :1], data.y)
        assert bounds.relevance_.tolist() == ["strong"]

    def test_more_features_than_rows(self):
        data = make_linear_classification(20, n_strong=1, n_weak=2, n_irrelevant=40, random_state=0)
        bounds = quick(C=10.0).fit(data.X, data.y)
        assert bounds.gap_.max() <= 1e-6

    def test_separable_classes_have_zero_loss_and_nonzero_bounds(self):
        X = np.vstack([np.eye(3)[[0, 1, 2]] + 3, -np.eye(3)[[0, 1, 2]] - 3])
        y = np.array([1, 1, 1, 0, 0, 0])
        bounds = quick(C=100.0, standardize=False).fit(X, y)
        assert bounds.baseline_.loss_ == pytest.approx(0, abs=1e-9)
        assert (bounds.interval_[:, 1] > 0).all()

    def test_single_class_raises(self, data):
        with pytest.raises(InputError, match="single class"):
            quick().fit(data.X, np.zeros(len(data.X)))

    def test_fewer_than_four_rows_raise(self, data):
        with pytest.raises(ValueError, match="minimum of 4"):
            quick().fit(data.X[:3], [0, 1, 0])

    def test_C_too_small_for_any_feature_makes_all_irrelevant(self, data):
        with pytest.warns(RelevanceWarning, match="all features are irrelevant"):
            bounds = quick(C=1e-6).fit(data.X, data.y)
        assert (bounds.relevance_ == "irrelevant").all()

    def test_uninformative_features_cause_a_warning(self):
        rng = np.random.RandomState(0)
        X, y = rng.normal(size=(60, 4)), np.resize([0, 1], 60)
        with pytest.warns(RelevanceWarning, match="no evidence that the target"):
            bounds = ClassificationBounds(random_state=0).fit(X, y)
        assert bounds.table_pvalue_ > 0.05
        assert not bounds.get_support().any()

    def test_class_with_a_single_row_cannot_be_cross_validated(self, data):
        y = np.r_[1, np.zeros(len(data.X) - 1)]
        with pytest.raises(InputError, match="single row"):
            ClassificationBounds().fit(data.X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", 0.0), ("C", "best"), ("norm_slack", -0.1), ("fpr", 1.0), ("n_probes", 0),
     ("formulation", "both"), ("cutoff", -1.0), ("class_weight", "equal")],
)  # fmt: skip
def test_bad_parameters_are_named(data, name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        quick(**{name: value}).fit(data.X, data.y)
