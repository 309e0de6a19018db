"""Validation of the feature table of an estimator, including tables of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .columns import Frame


def validate_table(est: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Validate ``X`` as :func:`sklearn.utils.validation.validate_data` does.

    scikit-learn does not know the column names of a :class:`Frame`: they are set, or compared with
    those of the fit, here.
    """
    if not isinstance(X, Frame):
        return validate_data(est, X, y, **options)
    if options.pop("reset", True):
        validated = validate_data(est, X.to_numpy(), y, **options)
        est.feature_names_in_ = np.array(X.columns, dtype=object)
        return validated
    names = list(getattr(est, "feature_names_in_", X.columns))
    if names != X.columns or len(names) != est.n_features_in_:
        raise ValueError("The feature names should match those that were passed during fit.")
    return check_array(X.to_numpy(), **options)
