"""Tests that the estimators of relevance bounds pass scikit-learn's estimator checks."""

import warnings

from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import (
    GMLVQ,
    ClassificationBounds,
    MappingBounds,
    MetricBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    RelevanceWarning,
    SurvivalBounds,
)

ESTIMATORS = [
    ClassificationBounds(random_state=0),
    ClassificationBounds(C=10.0, cutoff="probes", n_probes=10, random_state=0),
    ClassificationBounds(C=10.0, cutoff=0.01),
    ClassificationBounds(C=10.0, cutoff=0.01, formulation="joint"),
    RegressionBounds(C=10.0, epsilon=0.1, random_state=0),
    RegressionBounds(C=10.0, epsilon=0.1, cutoff=0.01),
    OrdinalBounds(C=100.0, random_state=0),
    OrdinalBounds(C=100.0, cutoff=0.01),
    RankingBounds(C=10.0, random_state=0),
    RankingBounds(C=1000.0, cutoff=0.01),
    SurvivalBounds(C=1000.0, cutoff=0.01),
    MappingBounds(PCA(1)),
    MetricBounds(GMLVQ(max_iter=50), max_dimension=2, random_state=0),
]


def expected_failures(estimator):
    if isinstance(estimator, OrdinalBounds):
        words = {"check_classifiers_classes": "Words whose order is unknown are refused."}
        return {**words, **expected_failures_of_weights(estimator)}
    return expected_failures_of_weights(estimator)


def expected_failures_of_weights(estimator):
    if isinstance(estimator, MappingBounds):
        return {}
    if isinstance(estimator, MetricBounds):
        reason = "Folds are drawn over rows, so a row of weight 2 is not equivalent to two rows."
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if estimator.C == "cv" or estimator.cutoff in ("fdr", "probes"):
        reason = (
            "Cross-validation folds and permutations are drawn over rows, so a row of weight 2 is "
            "not equivalent to two rows."
        )
        return {
            "check_sample_weight_equivalence_on_dense_data": reason,
            "check_sample_weight_equivalence_on_sparse_data": reason,
        }
    if not isinstance(estimator, ClassificationBounds):
        return {}
    if estimator.formulation == "joint":
        reason = "libsvm stops at a tolerance of 1e-4, but the check compares to 1e-7."
        return {
            "check_sample_weight_equivalence_on_dense_data": reason,
            "check_sample_weight_equivalence_on_sparse_data": reason,
        }
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks deliberately fit tables with constant columns or very few rows.
        warnings.simplefilter("ignore", RelevanceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
