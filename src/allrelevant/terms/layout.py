"""What frames, figures and reports read off a fitted estimator of relevance bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def baseline_weights(est: Any) -> NDArray[np.float64]:
    """The baseline's weight of each feature: with several models, the one largest in size."""
    return _largest_in_size(est.baseline_.coef_)


def _largest_in_size(coef: NDArray[np.float64]) -> NDArray[np.float64]:
    models = np.atleast_2d(coef)
    return models[np.abs(models).argmax(axis=0), np.arange(models.shape[1])]


def privileged_names(est: Any) -> list[str]:
    """Names of the privileged features, ``z0, z1, ...`` where their table had none."""
    names = getattr(est, "privileged_names_in_", None)
    n_features = getattr(est, "n_privileged_in_", 0)
    return [f"z{j}" for j in range(n_features)] if names is None else [str(n) for n in names]


def privileged_baseline_weights(est: Any) -> NDArray[np.float64]:
    """The baseline's weight of each privileged feature, as :func:`baseline_weights`."""
    return _largest_in_size(est.baseline_.privileged_coef_)
