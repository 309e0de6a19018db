"""What features are called."""

from __future__ import annotations

from typing import Any


def feature_names(est: Any) -> list[str]:
    """Names of the features of a fitted estimator, ``x0, x1, ...`` where the table had none."""
    names = getattr(est, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(est.n_features_in_)] if names is None else [str(n) for n in names]
    )
