"""Properties of generated data that several tests check."""

import numpy as np

CLASSES = ("strong", "weak", "irrelevant")


def counts(relevance):
    return tuple(int((relevance == c).sum()) for c in CLASSES)


def in_order(relevance):
    """Return whether the order is strong, weak, irrelevant."""
    codes = [CLASSES.index(r) for r in relevance]
    return codes == sorted(codes)


def copies_of_each(columns):
    """Return for each column the number of equal columns, including itself."""
    return (np.abs(columns[:, :, None] - columns[:, None, :]).max(axis=0) == 0).sum(axis=0)


def association(X, target):
    """Return n_samples times the squared correlation; its mean is 1 for independent features."""
    X, target = X - X.mean(axis=0), target - target.mean()
    cosine = target @ X / (np.linalg.norm(X, axis=0) * np.linalg.norm(target))
    return len(target) * cosine**2


def mean_association(make, relevance, n_seeds=30):
    """Return the mean association over seeds and over the features of one relevance class."""
    tables = [make(random_state=seed) for seed in range(n_seeds)]
    return np.mean([association(t.X, t.y)[t.relevance == relevance].mean() for t in tables])
