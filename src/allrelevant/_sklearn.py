"""Every private helper of scikit-learn that the package uses, in one place.

They have no promise of stability: when a release moves one, this is the file to mend.
"""

from typing import Any

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "kernel_factor",
    "safe_indexing",
]


def kernel_factor(machine: Any) -> float:
    """The gamma of the kernel of a fitted SVM: "scale" and "auto" as the number they stood for."""
    return float(machine._gamma)
