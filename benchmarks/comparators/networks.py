"""LassoNet: a network whose first layer is restricted by sparse linear skip connections."""

from __future__ import annotations

import numpy as np
import torch
from lassonet import LassoNetClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from .interface import Chosen, Classes, Table

HIDDEN_DIMS = (20,)
PATH_MULTIPLIER = 1.1


def lassonet(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """Select the features of the LassoNet model with the best held-out accuracy.

    Ties are resolved in favor of the sparser network. To save time, a single split replaces
    cross-validation. It holds out a fraction of ``1 / folds`` of the rows.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    X_train, X_held, y_train, y_held = train_test_split(
        X, (y == 1).astype(np.int64), test_size=1 / folds, random_state=seed, stratify=y
    )
    model = LassoNetClassifier(
        hidden_dims=HIDDEN_DIMS, path_multiplier=PATH_MULTIPLIER, random_state=seed, verbose=0
    )
    scored = []
    for step in model.path(X_train, y_train, X_val=X_held, y_val=y_held, return_state_dicts=True):
        model.load(step.state_dict)
        chosen = step.selected.numpy().astype(bool)
        scored.append((accuracy_score(y_held, model.predict(X_held)), -chosen.sum(), chosen))
    return max(scored, key=lambda entry: entry[:2])[2]
