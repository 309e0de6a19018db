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


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks do not need converged solutions.
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
