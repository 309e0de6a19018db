"""Lasso and elastic net on the challenge sets, as classifiers that select by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import ElasticNetCV, LassoCV

from .saliency_sets import ChallengeSet

# Half and half is scikit-learn's default of the elastic net.
MODELS = {"Lasso": LassoCV, "Elastic Net": ElasticNetCV}


def fitted(data: ChallengeSet, name: str, seed: int = 0) -> dict[str, Any]:
    """Trained towards -1 and 1; the sign decides. The penalty is chosen among 30 by 5 folds.

    Returns
    -------
    dict
        ``accuracy`` on the test rows, ``n_features`` with a weight that is not zero, ``alpha``.
    """
    X = sp.csc_array(data.X) if sp.issparse(data.X) else data.X
    model = MODELS[name](alphas=30, cv=5, max_iter=2000, tol=1e-3, random_state=seed)
    model.fit(X, np.where(data.y > 0, 1.0, -1.0))
    right = (model.predict(data.X_test) > 0) == (data.y_test > 0)
    return {
        "accuracy": float(right.mean()),
        "n_features": int(np.count_nonzero(model.coef_)),
        "alpha": float(model.alpha_),
    }
