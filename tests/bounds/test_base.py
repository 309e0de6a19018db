"""Tests of behavior common to all estimators: privileged features and constant columns."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from allrelevant import (
    ClassificationBounds,
    InputError,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
)
from allrelevant.datasets import (
    make_privileged,
)

COUNTS: dict[str, Any] = {"n_strong": 1, "n_weak": 2, "n_irrelevant": 2}
EXPECTED = ["strong", "weak", "weak", "irrelevant", "irrelevant"]


PRIVILEGED: dict[str, Any] = {
    "classification": ClassificationBounds(C=0.1, cutoff=0.1),
    "regression": RegressionBounds(C=0.1, epsilon=0.1, cutoff=0.1),
    "ordinal": OrdinalBounds(C=0.1, cutoff=0.1),
    "ranking": RankingBounds(C=10.0, cutoff=0.1),
}


@pytest.mark.parametrize("task", PRIVILEGED)
class TestPrivileged:
    def data(self, task):
        return make_privileged(task, 120, random_state=0, n_irrelevant_privileged=1, **COUNTS)

    def test_features_of_both_tables_are_classified(self, task):
        data = self.data(task)
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=data.privileged)
        assert bounds.relevance_.tolist() == data.relevance.tolist()
        assert bounds.privileged_relevance_.tolist() == data.privileged_relevance.tolist()
        assert bounds.privileged_interval_.shape == (4, 2)
        assert bounds.predict(data.X).shape == data.y.shape  # without privileged features
        assert bounds.transform(data.X).shape[1] == 3

    def test_dense_and_sparse_agree(self, task):
        data = self.data(task)
        est = clone(PRIVILEGED[task]).set_params(standardize=False)
        dense = clone(est).fit(data.X, data.y, privileged=data.privileged)
        sparse = est.fit(sp.csr_array(data.X), data.y, privileged=sp.csr_array(data.privileged))
        np.testing.assert_allclose(sparse.interval_, dense.interval_, atol=1e-7)
        np.testing.assert_allclose(
            sparse.privileged_interval_, dense.privileged_interval_, atol=1e-7
        )

    def test_witnesses_and_names(self, task):
        data = self.data(task)
        Z = pd.DataFrame(data.privileged, columns=["late", "later", "latest", "never"])
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=Z)
        witness = bounds.witness("late", "upper")
        assert witness.privileged_coef_ is not None
        upper = bounds.privileged_interval_[0, 1]
        assert abs(witness.privileged_coef_[0]) == pytest.approx(upper, abs=1e-7)
        frame = bounds.to_frame(privileged=True)
        assert frame.index.tolist() == list(Z.columns)
        np.testing.assert_array_equal(frame["upper"], bounds.privileged_interval_[:, 1])
        assert pickle.loads(pickle.dumps(bounds)).privileged_names_in_.tolist() == list(Z.columns)

    def test_refitting_without_privileged_features_deletes_their_attributes(self, task):
        data = self.data(task)
        bounds = clone(PRIVILEGED[task]).fit(data.X, data.y, privileged=data.privileged)
        bounds.fit(data.X, data.y)
        assert not hasattr(bounds, "privileged_interval_")
        assert not hasattr(bounds, "n_privileged_in_")
        with pytest.raises(InputError, match="without privileged features"):
            bounds.to_frame(privileged=True)

    def test_bad_privileged_tables(self, task):
        data = self.data(task)
        est = clone(PRIVILEGED[task])
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            est.fit(data.X, data.y, privileged=data.privileged[:-1])
        with pytest.raises(ValueError, match="privileged contains NaN"):
            est.fit(data.X, data.y, privileged=np.full_like(data.privileged, np.nan))


def test_joint_formulation_rejects_privileged_features():
    data = make_privileged("classification", 60, random_state=0, **COUNTS)
    with pytest.raises(InputError, match="separate"):
        ClassificationBounds(formulation="joint").fit(data.X, data.y, privileged=data.privileged)


def test_table_of_constant_columns_is_rejected():
    with pytest.raises(InputError, match="All columns are constant"):
        ClassificationBounds().fit(np.ones((20, 3)), [0, 1] * 10)
