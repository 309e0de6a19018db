"""LassoNet: a network whose first layer is held by a linear path of sparse weights."""

from __future__ import annotations

import numpy as np
import torch
from lassonet import LassoNetClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from .interface import Chosen, Classes, Table

HIDDEN = (20,)
STEP = 1.1


def lassonet(X: Table, y: Classes, *, folds: int, seed: int) -> Chosen:
    """The sparsest network of its path that no other beats on rows held out (one in ``folds``).

    One split in place of cross-validation, of which each fold would take as long.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    X_train, X_held, y_train, y_held = train_test_split(
        X, (y == 1).astype(np.int64), test_size=1 / folds, random_state=seed, stratify=y
    )
    model = LassoNetClassifier(
        hidden_dims=HIDDEN, path_multiplier=STEP, random_state=seed, verbose=0
    )
    judged = []
    for step in model.path(X_train, y_train, X_val=X_held, y_val=y_held, return_state_dicts=True):
        model.load(step.state_dict)
        chosen = step.selected.numpy().astype(bool)
        judged.append((accuracy_score(y_held, model.predict(X_held)), -chosen.sum(), chosen))
    return max(judged, key=lambda entry: entry[:2])[2]
