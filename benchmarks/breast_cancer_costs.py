"""Minimum-cost feature sets of the breast cancer data for several cost structures.

usage: python -m benchmarks.breast_cancer_costs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.datasets import load_breast_cancer

from allrelevant import ClassificationBounds, InputError

# Cost of one feature of each kind.
COSTS: dict[str, Mapping[str, float]] = {
    "equal costs: 1, 1, 1": {"mean": 1, "standard error": 1, "worst": 1},
    "by effort: 1, 2, 3": {"mean": 1, "standard error": 2, "worst": 3},
    "worst values expensive: 1, 1, 10": {"mean": 1, "standard error": 1, "worst": 10},
    "means expensive: 10, 1, 1": {"mean": 10, "standard error": 1, "worst": 1},
}


def get_kind(feature: str) -> str:
    """Return the kind of a breast cancer feature: mean, worst or standard error."""
    if feature.startswith(("mean ", "worst ")):
        return feature.split()[0]
    return "standard error"


def assign_costs(features: list[str], costs: Mapping[str, float]) -> dict[str, float]:
    return {feature: costs[get_kind(feature)] for feature in features}


def format_solution(solution: Any) -> str:
    status = "proven" if solution.proven else f"gap {solution.gap:g}"
    return (
        f"{solution.cost:g} ({status}) | {len(solution.features)} | {', '.join(solution.features)} "
        f"| {solution.score:.3f} ± {solution.score_error:.3f}"
    )


def print_single_kinds(est: Any, features: list[str]) -> None:
    """Print the minimum-cost set that uses only one kind of feature, for each kind."""
    print("| Features allowed | Minimum-cost set |")
    print("| --- | --- |")
    for kind in ("mean", "standard error", "worst"):
        others = [feature for feature in features if get_kind(feature) != kind]
        try:
            (found,) = est.cheapest(must_not_use=others, max_seconds=120)
            answer = f"{len(found.features)}: {', '.join(found.features)}"
        except InputError:
            answer = "no equivalent model"
        print(f"| {kind} only | {answer} |", flush=True)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    est = ClassificationBounds(random_state=0).fit(X, y)
    features = list(X.columns)
    print("| Costs | Total cost | Number of features | Features | Accuracy |")
    print("| --- | --- | --- | --- | --- |")
    design = None
    for name, costs in COSTS.items():
        design = est.cheapest(assign_costs(features, costs), max_seconds=120)
        print(f"| {name} | {format_solution(design[0])} |", flush=True)
    assert design is not None
    print(
        f"\nThe baseline uses {int(design.baseline_used.sum())} features and has a cross-validated "
        f"accuracy of {design.baseline_score:.3f} ± {design.baseline_score_error:.3f}.\n"
    )
    print_single_kinds(est, features)
    five = est.cheapest(assign_costs(features, COSTS["by effort: 1, 2, 3"]), n_solutions=5)
    print("\nThe five cheapest sets by effort:\n")
    print("| Total cost | Number of features | Features | Accuracy |")
    print("| --- | --- | --- | --- |")
    for solution in five:
        print(f"| {format_solution(solution)} |")
    print(f"\nFeatures in all sets: {', '.join(five.core()) or 'none'}.")


if __name__ == "__main__":
    main()
