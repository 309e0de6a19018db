"""Tests that sparse tables give the results of dense tables and are converted in batches."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from allrelevant import (
    DeepFeatureSelection,
    NetworkClassifier,
    NetworkRegressor,
    SaliencySelector,
    TrainingError,
    explain,
)
from allrelevant.saliency.backends import torch_modules as torch_model
from allrelevant.saliency.networks import training
from allrelevant.saliency.rounds import Rounds

QUICK: dict[str, Any] = {
    "max_epochs": 4,
    "batch_size": 16,
    "learning_rate": 0.01,
    "random_state": 0,
    "n_threads": 1,
}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"early_stopping": True, "validation_fraction": 0.2},
    {"input_noise": 0.3},
    {"mask_penalty": 1e-2, "l1": 1e-4},
    {"network": "cnn", "image_shape": (6, 5)},
]


@pytest.fixture(scope="module")
def table():
    """Return a table with few nonzero values, and its classes.

    Column 28 is constant and nonzero, and column 29 is all zeros.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 30)) * (rng.uniform(size=(90, 30)) < 0.2)
    X[:, 28], X[:, 29] = 1.5, 0.0
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] > 0.1, "yes", "no")
    return X, y


def same_weights(one, other):
    theirs = other.module_.state_dict()
    return all((value == theirs[name]).all() for name, value in one.module_.state_dict().items())


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_classifier_is_the_same_for_sparse_data(table, settings):
    X, y = table
    net = NetworkClassifier(**QUICK, **settings)
    dense, sparse = clone(net).fit(X, y), clone(net).fit(sp.csr_array(X), y)
    assert same_weights(dense, sparse)
    assert dense.loss_curve_ == sparse.loss_curve_
    assert dense.validation_curve_ == sparse.validation_curve_
    np.testing.assert_array_equal(dense.predict_proba(X), sparse.predict_proba(sp.csr_array(X)))


def test_regressor_is_the_same_for_sparse_data(table):
    X, _ = table
    target = 100 + X[:, 0] - X[:, 1]
    net = NetworkRegressor(**QUICK)
    dense, sparse = clone(net).fit(X, target), clone(net).fit(sp.csr_array(X), target)
    assert same_weights(dense, sparse)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_array(X)))


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array])
def test_any_sparse_format(table, form):
    X, y = table
    net = NetworkClassifier(**QUICK)
    assert same_weights(clone(net).fit(X, y), clone(net).fit(form(X), y))


def test_saliency_is_the_same_for_sparse_data(table):
    X, y = table
    net = NetworkClassifier(**QUICK).fit(X, y)
    np.testing.assert_array_equal(
        explain(net, X, y).saliency, explain(net, sp.csr_array(X), y).saliency
    )


def test_mask_is_the_same_for_sparse_data(table):
    X, y = table
    settings = QUICK | {"max_epochs": 40}
    selector = DeepFeatureSelection(NetworkClassifier(**settings), penalty=0.1)
    dense, sparse = clone(selector).fit(X, y), clone(selector).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.mask_, sparse.mask_)
    np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)
    assert (dense.mask_ == 0).any()
    assert sp.issparse(sparse.transform(sp.csr_array(X)))
    np.testing.assert_array_equal(sparse.transform(sp.csr_array(X)).toarray(), dense.transform(X))


@pytest.mark.filterwarnings("ignore:2 constant column")
@pytest.mark.parametrize(
    "estimator",
    [
        NetworkClassifier(**QUICK),
        NetworkClassifier("cnn", image_shape=(6, 5), **QUICK),  # inactive pixels become zero
        DeepFeatureSelection(NetworkClassifier(**QUICK)),
    ],
    ids=["mlp", "cnn", "mask"],
)
def test_ranking_is_the_same_for_sparse_data(table, estimator):
    X, y = table
    selector = SaliencySelector(
        estimator,
        keep_fraction=0.5,
        n_repeats=2,
        min_features_to_select=4,
        n_features_to_select=15,
        standardize=False,
        balanced=False,
        random_state=0,
    )
    dense, sparse = clone(selector).fit(X, y), clone(selector).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)
    np.testing.assert_array_equal(dense.importances_, sparse.importances_)
    np.testing.assert_array_equal(
        dense.explain(X, y).saliency, sparse.explain(sp.csr_array(X), y).saliency
    )


@pytest.mark.filterwarnings("ignore:2 constant column")
def test_resumed_run_is_the_same_for_sparse_data(table, tmp_path, monkeypatch):
    X, y = table
    plain = SaliencySelector(
        NetworkClassifier(**QUICK),
        keep_fraction=0.5,
        n_repeats=1,
        n_features_to_select=15,
        standardize=False,
        balanced=False,
        random_state=0,
    )
    kept = clone(plain).set_params(checkpoint=tmp_path / "run.ckpt")
    whole_round = Rounds._round

    def interrupted(self, number, active):
        if number == 2:
            raise KeyboardInterrupt
        return whole_round(self, number, active)

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "_round", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.fit(sp.csr_array(X), y)
    resumed, dense = kept.fit(sp.csr_array(X), y), plain.fit(X, y)
    np.testing.assert_array_equal(resumed.ranking_, dense.ranking_)
    np.testing.assert_array_equal(resumed.importances_, dense.importances_)


@pytest.mark.filterwarnings("ignore:2 constant column")
def test_only_batches_of_rows_are_dense(table, monkeypatch):
    """Sparse tables are converted to dense arrays only in batches of rows."""
    X, y = table
    made = []
    toarray = sp.csr_array.toarray

    def recording_toarray(self, *args, **kwargs):
        made.append(self.shape[0])
        return toarray(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", recording_toarray)
    monkeypatch.setattr(torch_model, "NUMBERS_PER_BATCH", 16 * X.shape[1])
    monkeypatch.setattr(training, "NUMBERS_PER_BATCH", 16 * X.shape[1])
    net = NetworkClassifier(early_stopping=True, validation_fraction=0.4, **QUICK)
    selector = SaliencySelector(
        net, keep_fraction=0.0, n_repeats=1, n_features_to_select=0.5, random_state=0
    ).fit(sp.csr_array(X), y)
    net.fit(sp.csr_array(X), y).predict_proba(sp.csr_array(X))
    selector.explain(sp.csr_array(X), y)
    # With fewer columns, more rows fit into the same budget.
    assert len(made) > 10
    assert max(made) <= 16 * X.shape[1] // (X.shape[1] // 2)
    assert max(made) < len(X)


def test_diverging_loss_reports_unscaled_values(table):
    X, y = table
    net = NetworkClassifier(**QUICK | {"learning_rate": 1e30})
    with pytest.raises(TrainingError, match=r"values as large as .*\. Standardize it"):
        net.fit(sp.csr_array(X * 1e20), y)


def test_sparse_table_without_nonzero_entries(table):
    _, y = table
    net = NetworkClassifier(input_noise=0.1, **QUICK)
    dense = clone(net).fit(np.zeros((90, 4)), y)
    sparse = clone(net).fit(sp.csr_array((90, 4)), y)
    assert same_weights(dense, sparse)
