"""scikit-learn's own checks of the ready networks."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import NetworkClassifier, NetworkRegressor

from ..small_network import SmallNetwork

QUICK: dict[str, Any] = {
    "max_epochs": 10,
    "batch_size": 32,
    "learning_rate": 0.02,
    "random_state": 0,
}
ESTIMATORS = [
    NetworkClassifier(**QUICK),
    NetworkClassifier(SmallNetwork(), mask_penalty=1e-4, balanced=False, **QUICK),
    NetworkRegressor(**QUICK),
]
LAST_DIGITS = (
    "Networks compute in single precision, where the last digits of a product of matrices depend "
    "on number and place of the rows; the check compares to 1e-7 or 1e-9."
)
EXPECTED = {
    "check_methods_subset_invariance": LAST_DIGITS,
    "check_methods_sample_order_invariance": LAST_DIGITS,
}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
