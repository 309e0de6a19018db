"""Tests that the elimination estimators pass scikit-learn's estimator checks."""

import warnings

from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import EBRFE, SVMRFE, AttributeFlip, BitFlip, RelevanceWarning

ESTIMATORS = [
    SVMRFE(cv=2),
    SVMRFE(cv=None, n_features_to_select=1, kernel="rbf", criterion="margin"),
    # A check of sample weights passes a list of folds, which cannot be split again.
    EBRFE(cv=2, n_candidates=2, C=(0.1, 1.0), step=2, repeat_in_folds=False),
    BitFlip(SVMRFE(cv=None, n_features_to_select=1), cv=2, repeat_in_folds=False),
    AttributeFlip(
        SVMRFE(cv=None, n_features_to_select=1), cv=2, repeat_in_folds=False, max_evaluations=3
    ),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks fit tables with constant columns, which correctly raises a warning.
        warnings.simplefilter("ignore", RelevanceWarning)
        check(estimator)
