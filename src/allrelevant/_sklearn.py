"""Every private helper of scikit-learn that the package uses, in one place.

They have no promise of stability: when a release moves one, this is the file to mend.
"""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["HasMethods", "Interval", "StrOptions", "check_sample_weight", "safe_indexing"]
