"""Lasso and elastic net as classifiers on the NIPS 2003 challenge datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import ElasticNetCV, LassoCV

from .saliency_sets import ChallengeSet

# ElasticNetCV uses its default, l1_ratio=0.5.
MODELS = {"Lasso": LassoCV, "Elastic Net": ElasticNetCV}


def fitted(data: ChallengeSet, name: str, seed: int = 0) -> dict[str, Any]:
    """Fit a linear model to targets -1 and 1, and evaluate the sign of its predictions.

    The penalty is chosen among 30 values by five-fold cross-validation.

    Returns
    -------
    dict
        Test ``accuracy``, ``n_features`` with a nonzero weight, and ``alpha``.
    """
    X = sp.csc_array(data.X) if sp.issparse(data.X) else data.X
    model = MODELS[name](alphas=30, cv=5, max_iter=2000, tol=1e-3, random_state=seed)
    model.fit(X, np.where(data.y > 0, 1.0, -1.0))
    correct = (model.predict(data.X_test) > 0) == (data.y_test > 0)
    return {
        "accuracy": float(correct.mean()),
        "n_features": int(np.count_nonzero(model.coef_)),
        "alpha": float(model.alpha_),
    }
