"""Runner of scikit-learn's estimator checks with tolerances for single precision."""

from sklearn.utils import estimator_checks

# These checks compare predictions with a tolerance of 1e-7 or 1e-9. In single precision, the last
# digits of a matrix product depend on the number and order of the rows, the CPU and the PyTorch
# version.
CHECKS_WITH_TIGHT_TOLERANCE = {
    "check_methods_subset_invariance",
    "check_methods_sample_order_invariance",
}


def run_check(check, estimator, monkeypatch):
    """Run a scikit-learn estimator check with tolerances for single precision."""
    if check.func.__name__ in CHECKS_WITH_TIGHT_TOLERANCE:
        for name in ("assert_allclose", "assert_allclose_dense_sparse"):
            monkeypatch.setattr(
                estimator_checks, name, _with_loose_tolerance(getattr(estimator_checks, name))
            )
    check(estimator)


def _with_loose_tolerance(compare):
    def loose(actual, desired, **options):
        compare(actual, desired, **{**options, "rtol": 1e-5, "atol": 1e-6})

    return loose
