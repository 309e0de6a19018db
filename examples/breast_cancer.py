"""Relevance of the Wisconsin breast cancer features, and the figure shown in README.md.

usage: python examples/breast_cancer.py [FIGURE.png]
"""

import sys

from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

bounds = ClassificationBounds(random_state=0).fit(X, y)

table = bounds.to_frame().sort_values("upper", ascending=False)
print(table[["relevance", "lower", "upper", "baseline"]].head(10).round(3).to_string())

# "worst radius" is weakly relevant: this equivalent model does not use it.
without = bounds.witness("worst radius", "lower")
print(f"\nbaseline: norm {bounds.baseline_.norm_:.2f}, loss {bounds.baseline_.loss_:.2f}")
print(f"without worst radius: norm {without.norm_:.2f}, loss {without.loss_:.2f}")

if len(sys.argv) > 1:
    display = bounds.plot(order="upper")
    display.figure_.savefig(sys.argv[1], dpi=150, bbox_inches="tight")
