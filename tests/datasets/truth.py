"""Functions that compute properties of generated data, for several tests."""

import numpy as np

CLASSES = ("strong", "weak", "irrelevant")


def counts(relevance):
    return tuple(int((relevance == c).sum()) for c in CLASSES)


def in_order(relevance):
    """Return whether strong features come first, weak ones second and irrelevant ones last."""
    codes = [CLASSES.index(r) for r in relevance]
    return codes == sorted(codes)


def copies_of_each(columns):
    """Count how often each column occurs in the table, including the column itself."""
    return (np.abs(columns[:, :, None] - columns[:, None, :]).max(axis=0) == 0).sum(axis=0)


def association(X, target):
    """Return the squared correlation of each feature with the target, times the sample size.

    The mean is 1 for independent features.
    """
    X, target = X - X.mean(axis=0), target - target.mean()
    cosine = target @ X / (np.linalg.norm(X, axis=0) * np.linalg.norm(target))
    return len(target) * cosine**2


def mean_association(make, relevance, n_seeds=30):
    """Return the mean association of one relevance class with the target, over many seeds."""
    tables = [make(random_state=seed) for seed in range(n_seeds)]
    return np.mean([association(t.X, t.y)[t.relevance == relevance].mean() for t in tables])
