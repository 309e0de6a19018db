"""Small random tables: noisy, redundant, weighted, or with more columns than rows."""

import numpy as np

from allrelevant.bounds.classification import ClassificationData
from allrelevant.datasets import make_linear_classification


def generated_samples(seed):
    rng = np.random.RandomState(seed)
    data = make_linear_classification(
        n_samples=int(rng.randint(20, 80)),
        n_strong=int(rng.randint(1, 4)),
        n_weak=int(rng.choice([0, 2, 3, 4])),
        n_irrelevant=int(rng.randint(0, 8)) + 25 * (seed % 5 == 0),
        weak=["copies", "combinations"][seed % 2],
        noise=0.3 * (seed % 3 == 0),
        flip=0.1 * (seed % 4 != 0),
        random_state=rng,
    )
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    weight = rng.uniform(0.5, 2.0, len(X)) if seed % 3 == 1 else np.ones(len(X))
    return ClassificationData(X, np.where(data.y == 1, 1.0, -1.0), weight)
