"""Tests of the relevance rule, of cutoffs from probes, and of the fallback with few probes."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant._params import FDR, FIXED, UNTESTED
from allrelevant.bounds.calibration import FittedCalibration
from allrelevant.bounds.probes import upper_prediction_limit
from allrelevant.datasets import make_linear_classification
from allrelevant.relevance import RELEVANT
from allrelevant.terms.layout import WeightLayout


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


def rule(**changes):
    """Return a rule of a table with three features and a privileged table with two."""
    values = {
        "layout": WeightLayout(3, 2),
        "cutoff": np.array([[0.3, 0.5], [0.1, 0.2]]),
        "zero": 1e-3,
        "rule": (FDR, FDR),
        "has_evidence": np.array([True, True]),
        "pvalue": np.full(5, 0.01),
        "qvalue": np.full(5, 0.05),
        "fdr": 0.05,
    }
    return FittedCalibration(**{**values, **changes})


def classes(fitted, *interval):
    return fitted.classify(np.array(interval)).tolist()


def test_a_rule_by_cutoffs():
    fitted = rule(rule=(FIXED, FIXED), fdr=0.0, qvalue=np.full(5, np.nan))
    assert fitted.strong_cutoff().tolist() == [0.3, 0.3, 0.3, 0.1, 0.1]
    assert fitted.relevance_cutoff().tolist() == [0.5, 0.5, 0.5, 0.2, 0.2]
    expected = ["strong", "weak", "irrelevant", "strong", "irrelevant"]
    interval = [[0.31, 0.6], [0.3, 0.51], [0.4, 0.5], [0.11, 0.21], [0.2, 0.2]]
    assert classes(fitted, *interval) == expected


def test_a_rule_by_tests():
    fitted = rule(qvalue=np.array([0.05, 0.05, 0.051, 0.051, 0.01]))
    # A feature is significant up to a q-value of fdr, if its largest weight is not zero.
    interval = [[0.31, 0.4], [0.3, 0.4], [0.4, 1.0], [1e-3, 1.0], [0.0, 1e-3]]
    expected = ["strong", "weak", "unconfirmed", "irrelevant", "irrelevant"]
    assert classes(fitted, *interval) == expected


def test_each_table_has_a_rule_and_evidence():
    fitted = rule(rule=(FIXED, FDR), has_evidence=np.array([True, False]))
    interval = [[0.31, 0.6], [0.0, 0.6], [0.0, 0.4], [0.0, 1.0], [0.2, 1.0]]
    expected = ["strong", "weak", "irrelevant", "irrelevant", "unconfirmed"]
    assert classes(fitted, *interval) == expected


def test_features_of_an_untested_table_are_unconfirmed_unless_no_model_uses_them():
    fitted = rule(rule=(UNTESTED, FDR), fdr=0.05)
    interval = [[0.4, 0.6], [0.0, 0.002], [0.0, 1e-3], [0.2, 0.4], [0.0, 0.4]]
    expected = ["unconfirmed", "unconfirmed", "irrelevant", "strong", "weak"]
    assert classes(fitted, *interval) == expected


def test_a_class_that_depends_on_the_gap_is_unconfirmed():
    fitted = rule(rule=(FIXED, FIXED), fdr=0.0)
    known = np.array([[0.4, 0.6], [0.2, 0.4], [0.0, 0.6], [0.0, 0.0], [0.2, 0.3]])
    proven = np.array([[0.2, 0.7], [0.1, 0.6], [0.0, 0.7], [0.0, 0.1], [0.11, 0.4]])
    expected = ["unconfirmed", "unconfirmed", "weak", "irrelevant", "strong"]
    assert fitted.classify_range(known, proven).tolist() == expected


def baseline(layout, weights, norm):
    model = SimpleNamespace(weights=np.array(weights), norm_=norm)
    return SimpleNamespace(layout=layout, model=model)


def test_without_evidence_unused_features_need_no_bounds():
    fitted = rule(has_evidence=np.array([True, False]))
    used = baseline(fitted.layout, [0.0, 1.0, 0.0, 0.5, 0.0], 1.5)
    assert fitted.screening_cutoff(used).tolist() == [0.5, 0.5, 0.5, 0.2, np.inf]


def test_a_rule_from_cutoffs_has_no_tests():
    layout, cutoff = WeightLayout(3, 2), np.array([[0.3, 0.5], [0.1, 0.2]])
    used = baseline(layout, [0.0] * 5, 2000.0)
    one = FittedCalibration.from_cutoff(used, cutoff, FIXED, notes=("a note",))
    assert one.rule == (FIXED, FIXED)
    assert FittedCalibration.from_cutoff(used, cutoff, FIXED, UNTESTED).rule == (FIXED, UNTESTED)
    assert one.layout is layout
    assert one.cutoff is cutoff
    assert one.zero == pytest.approx(2e-3)
    assert one.has_evidence.tolist() == [True, True]
    assert np.isnan([one.pvalue, one.qvalue]).tolist() == [[True] * 5] * 2
    assert (one.fdr, one.notes) == (0.0, ("a note",))
