"""Tests that `SaliencySelector` passes scikit-learn's checks with several estimators."""

import warnings

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import NetworkClassifier, RelevanceWarning, SaliencySelector

ESTIMATORS = [
    SaliencySelector(SVC(), n_repeats=1, random_state=0),
    SaliencySelector(LogisticRegression(), keep_fraction=0.0, n_repeats=1, random_state=0),
    SaliencySelector(Ridge(), n_repeats=1, random_state=0),
    SaliencySelector(
        NetworkClassifier(max_epochs=5, learning_rate=0.02),
        keep_fraction=0.0,
        n_repeats=1,
        random_state=0,
    ),
]


WEIGHT_CHECKS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected_failures(estimator):
    """Return the checks that fail because networks do not accept sample weights."""
    if not isinstance(estimator.estimator, NetworkClassifier):
        return {}
    return dict.fromkeys(WEIGHT_CHECKS, "networks have no weights")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks fit tables with constant columns, which cause a warning.
        warnings.simplefilter("ignore", RelevanceWarning)
        check(estimator)
