"""Size of a pickled estimator, fitted on 500 rows and 100 features.

usage: python -m benchmarks.pickle_size
"""

from __future__ import annotations

import pickle

from sklearn.datasets import make_classification

from allrelevant import ClassificationBounds


def main() -> None:
    """Print the size of the pickled estimator in bytes."""
    X, y = make_classification(500, 100, n_informative=10, random_state=0)
    bounds = ClassificationBounds(random_state=0).fit(X, y)
    print(f"{len(pickle.dumps(bounds)):,} bytes")


if __name__ == "__main__":
    main()
