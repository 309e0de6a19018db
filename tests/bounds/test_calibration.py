"""Tests of cutoffs estimated from probes, and of the fallback with too few probes."""

import numpy as np
import pytest
from scipy import stats

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant.bounds.probes import upper_prediction_limit
from allrelevant.datasets import make_linear_classification
from allrelevant.relevance import RELEVANT


def test_prediction_limit_is_exceeded_with_probability_fpr():
    """A new normally distributed value exceeds the prediction limit with probability ``fpr``."""
    rng = np.random.RandomState(0)
    draws, fpr = 4_000, 0.05
    exceeded = 0
    samples = rng.normal(size=(draws, 11, 1))
    for sample in samples:
        exceeded += sample[-1, 0] > upper_prediction_limit(sample[:-1], fpr)[0]
    low, high = stats.binom.interval(0.999, draws, fpr)
    assert low <= exceeded <= high


def test_irrelevant_features_stay_below_the_cutoff_over_seeds():
    false_alarms = 0
    for seed in range(5):
        data = make_linear_classification(
            200, n_strong=2, n_weak=2, n_irrelevant=10, flip=0.1, random_state=seed
        )
        bounds = ClassificationBounds(cutoff="probes", random_state=seed).fit(data.X, data.y)
        is_relevant = np.isin(bounds.relevance_, RELEVANT)
        false_alarms += is_relevant[data.relevance == "irrelevant"].sum()
        assert is_relevant[data.relevance != "irrelevant"].all()
    assert false_alarms <= 1


def test_too_few_probes_warn_and_use_the_fallback_cutoffs():
    data = make_linear_classification(100, n_strong=2, n_weak=2, n_irrelevant=4, random_state=0)
    bounds = ClassificationBounds(
        C=1.0, norm_slack=0.1, loss_slack=0.0, cutoff="probes", n_probes=3, random_state=0
    )
    with pytest.warns(RelevanceWarning, match="Only 3 of 3 probes"):
        bounds.fit(data.X, data.y)
    norm, C = float(bounds.baseline_.norm_), float(bounds.baseline_.C_)
    np.testing.assert_allclose(bounds.cutoff_, [1e-5 * norm, 2 * (0.1 * norm + C * 1e-6)])
    assert (bounds.relevance_[:4] != "irrelevant").all()


def test_probes_that_equal_their_column_are_not_used():
    """Permuted copies that equal their column are not used as probes.

    The column has one nonzero value, so one in four permutations equals the column.
    """
    rng = np.random.RandomState(0)
    X = np.zeros((4, 1))
    X[0] = 1.0
    y = np.array([1, 0, 0, 1])
    bounds = ClassificationBounds(C=10.0, cutoff="probes", n_probes=12, random_state=rng)
    with (
        pytest.warns(RelevanceWarning, match=r"Only \d+ of 12 probes"),
        pytest.warns(RelevanceWarning, match="no evidence"),
    ):
        bounds.fit(X, y)


def test_numeric_cutoff_is_used_for_both_bounds():
    data = make_linear_classification(60, n_strong=1, n_weak=0, n_irrelevant=1, random_state=0)
    bounds = ClassificationBounds(C=1.0, cutoff=0.25).fit(data.X, data.y)
    assert bounds.cutoff_.tolist() == [0.25, 0.25]
