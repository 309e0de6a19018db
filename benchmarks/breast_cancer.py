"""Breast cancer study of Göpfert et al. (2018) for several values of C and norm_slack.

The paper reports that all features are weak in the full table and among the ten means. Among the
ten standard errors, the 14th feature (area error) is strong. Among the ten worst values, the 22nd
feature (worst texture) is strong.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds

SUBSETS = {
    "all 30": range(30),
    "mean": range(10),
    "standard error": range(10, 20),
    "worst": range(20, 30),
}
PAPER: dict[str, set[int]] = {"all 30": set(), "mean": set(), "standard error": {14}, "worst": {22}}

C_VALUES = (0.01, 0.03, 0.05, 0.1, 0.3, 1.0)
NORM_SLACKS = (0.01, 0.05, 0.1, 0.2, 0.3)


def classes(subset: range, **settings: object) -> tuple[set[int], set[int]]:
    """Return the positions of the strong and of the irrelevant features, counting from 1."""
    X, y = load_breast_cancer(return_X_y=True)
    bounds = ClassificationBounds(**settings).fit(X[:, subset], y)  # type: ignore[arg-type]
    number = np.array(subset) + 1
    return (
        {int(j) for j in number[bounds.relevance_ == "strong"]},
        {int(j) for j in number[bounds.relevance_ == "irrelevant"]},
    )


def describe(strong: set[int], irrelevant: set[int]) -> str:
    parts = []
    if strong:
        parts.append(f"strong {sorted(strong)}")
    if irrelevant:
        parts.append(f"irrelevant {sorted(irrelevant)}")
    return "; ".join(parts) or "all weak"


def print_study() -> None:
    print("### Results with the paper's settings\n")
    print("Separate budgets, no loss slack, cutoff 1e-5.\n")
    print(_header())
    for C in C_VALUES:
        for norm_slack in NORM_SLACKS:
            found = {
                name: classes(subset, C=C, norm_slack=norm_slack, loss_slack=0.0, cutoff=1e-5)
                for name, subset in SUBSETS.items()
            }
            agree = [name for name in SUBSETS if found[name] == (PAPER[name], set())]
            cells = " | ".join(describe(*found[name]) for name in SUBSETS)
            print(f"| {C:g} | {norm_slack:g} | {cells} | {len(agree)} of 4 |", flush=True)


def print_defaults() -> None:
    print("\n### Results with the default settings\n")
    print("| Subset | Result |\n| --- | --- |")
    for name, subset in SUBSETS.items():
        print(f"| {name} | {describe(*classes(subset, random_state=0, n_jobs=-1))} |", flush=True)


def _header() -> str:
    subsets = [name.capitalize() for name in SUBSETS]
    titles = ["C", "norm_slack", *subsets, "Observations that hold"]
    return f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}"


if __name__ == "__main__":
    print_study()
    print_defaults()
