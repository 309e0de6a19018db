"""The breast cancer study of ferel18 with costs: mean, standard-error and worst features.

usage: python -m benchmarks.breast_cancer_costs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, InputError

# What one feature of each class costs.
PRICES: dict[str, Mapping[str, float]] = {
    "all alike": {"mean": 1, "standard error": 1, "worst": 1},
    "by effort: 1, 2, 3": {"mean": 1, "standard error": 2, "worst": 3},
    "worst ones dear: 1, 1, 10": {"mean": 1, "standard error": 1, "worst": 10},
    "means dear: 10, 1, 1": {"mean": 10, "standard error": 1, "worst": 1},
}


def class_of(feature: str) -> str:
    """The cost class of a feature, by its name in scikit-learn's table."""
    if feature.startswith(("mean ", "worst ")):
        return feature.split()[0]
    return "standard error"


def costs_of(features: list[str], prices: Mapping[str, float]) -> dict[str, float]:
    return {feature: prices[class_of(feature)] for feature in features}


def in_words(solution: Any) -> str:
    sign = "proven" if solution.proven else f"gap {solution.gap:g}"
    return (
        f"{solution.cost:g} ({sign}) | {len(solution.features)} | {', '.join(solution.features)} "
        f"| {solution.score:.3f} +- {solution.score_error:.3f}"
    )


def one_class_only(est: Any, features: list[str]) -> None:
    """Whether the features of one class suffice."""
    print("| features | cheapest set of them that is as good |")
    print("| --- | --- |")
    for kind in ("mean", "standard error", "worst"):
        others = [feature for feature in features if class_of(feature) != kind]
        try:
            (found,) = est.cheapest(must_not_use=others, max_seconds=120)
            answer = f"{len(found.features)}: {', '.join(found.features)}"
        except InputError:
            answer = "none is as good"
        print(f"| {kind} only | {answer} |", flush=True)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    est = ClassificationBounds(random_state=0).fit(X, y)
    features = list(X.columns)
    print("| prices | cost | features | which | held-out accuracy |")
    print("| --- | --- | --- | --- | --- |")
    design = None
    for name, prices in PRICES.items():
        design = est.cheapest(costs_of(features, prices), max_seconds=120)
        print(f"| {name} | {in_words(design[0])} |", flush=True)
    assert design is not None
    print(
        f"\nThe baseline uses {int(design.baseline_used.sum())} features, held-out accuracy "
        f"{design.baseline_score:.3f} +- {design.baseline_score_error:.3f}.\n"
    )
    one_class_only(est, features)
    three = est.cheapest(costs_of(features, PRICES["by effort: 1, 2, 3"]), n_solutions=5)
    print("\nThe five cheapest by effort:\n")
    print("| cost | features | which | held-out accuracy |")
    print("| --- | --- | --- | --- |")
    for solution in three:
        print(f"| {in_words(solution)} |")
    print(f"\nIn all of them: {', '.join(three.core()) or 'none'}.")


if __name__ == "__main__":
    main()
