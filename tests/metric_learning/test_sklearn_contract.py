"""Tests that the metric learners pass scikit-learn's estimator checks."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import GMLVQ, LMNN

ESTIMATORS = [
    GMLVQ(max_iter=50),
    GMLVQ(start="random", regularization=0.01, random_state=0, max_iter=50),
    LMNN(max_iter=30),
    LMNN(n_neighbors=1, rank=1, start="random", random_state=0, max_iter=30),
]


def expected_failures(estimator):
    reason = (
        "A copy of a sample would be its nearest target neighbor."
        if isinstance(estimator, LMNN)
        else "With fewer distinct samples than features, the metric of smallest cost is not unique."
    )
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks do not need converged solutions.
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
