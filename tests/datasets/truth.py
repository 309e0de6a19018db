"""What the tests of several generators ask of their data."""

import numpy as np

CLASSES = ("strong", "weak", "irrelevant")


def counts(relevance):
    return tuple(int((relevance == c).sum()) for c in CLASSES)


def in_order(relevance):
    """Strong, then weak, then irrelevant."""
    places = [CLASSES.index(r) for r in relevance]
    return places == sorted(places)


def copies_of_each(columns):
    """How many columns are equal to each one, itself included."""
    return (np.abs(columns[:, :, None] - columns[:, None, :]).max(axis=0) == 0).sum(axis=0)


def association(X, target):
    """Squared correlation with the target times samples: 1 in the mean where there is none."""
    X, target = X - X.mean(axis=0), target - target.mean()
    cosine = target @ X / (np.linalg.norm(X, axis=0) * np.linalg.norm(target))
    return len(target) * cosine**2


def mean_association(make, relevance, n_seeds=30):
    """Mean over seeds and over the features of one class."""
    tables = [make(random_state=seed) for seed in range(n_seeds)]
    return np.mean([association(t.X, t.y)[t.relevance == relevance].mean() for t in tables])
