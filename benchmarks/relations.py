"""What replaces what, what if, and the cheapest models: truth, agreement and speed.

usage: python -m benchmarks.relations [--part truth|speed|cheapest|wide|figure]...
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

from allrelevant import ClassificationBounds, InfeasibleConstraintsError, RelevanceWarning
from allrelevant.bounds.solver.ranges import weight_ranges
from allrelevant.datasets import make_planted_groups

# The rule of the groups was chosen with some of the first ones among the data, without the second.
SEEDS = {"0 to 19": range(20), "200 to 219": range(200, 220)}

# Noise of the features, share of flipped labels.
PLANTED = [(0.0, 0.0), (0.0, 0.05), (0.0, 0.1), (0.1, 0.05), (0.05, 0.0)]


def planted_scores(
    noise: float, flip: float, seeds: Any = SEEDS["0 to 19"]
) -> tuple[list[float], list[float]]:
    """Adjusted Rand of the groups found, and the share of planted groups that are strong."""
    rand, strong = [], []
    for seed in seeds:
        data = make_planted_groups(noise=noise, flip=flip, random_state=seed)
        bounds = ClassificationBounds(random_state=seed).fit(data.X, data.y)
        found = bounds.relations()
        rand.append(float(adjusted_rand_score(apart(data.group), apart(found.labels_))))
        strong.append(strong_share(bounds, data.group))
    return rand, strong


def apart(labels: Any) -> Any:
    """Features of no group are groups of their own."""
    return np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)


def strong_share(bounds: Any, group: Any) -> float:
    """Share of planted groups whose members must carry more than the cutoff together."""
    from allrelevant.bounds.relations import sum_range

    problem = bounds._result.subproblems[0]
    sums = [
        sum_range(problem, np.flatnonzero(group == label))[0] for label in range(group.max() + 1)
    ]
    return float(np.mean(np.array(sums) > problem.calibration.cutoff[0, 0]))


def truth() -> None:
    print(
        "## Planted groups: alone, pair, triple, two features and their sum; 10 irrelevant ones\n"
    )
    print(
        "| seeds | noise | labels flipped | adjusted Rand, mean | least | seeds at 0.95 or more "
        "| planted groups that are strong together |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (name, seeds), (noise, flip) in product(SEEDS.items(), PLANTED):
        rand, strong = planted_scores(noise, flip, seeds)
        good = sum(value >= 0.95 for value in rand)
        print(
            f"| {name} | {noise:g} | {flip:.0%} | {np.mean(rand):.3f} | {min(rand):.3f} "
            f"| {good} of {len(rand)} | {np.mean(strong):.1%} |",
            flush=True,
        )


def breast_cancer() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return ClassificationBounds(random_state=0).fit(X, y), X, y


class Seconds(NamedTuple):
    """By the clock, and of the processor alone: on a busy machine the two differ."""

    clock: float
    cpu: float

    def __str__(self) -> str:
        if self.clock < 1.0:
            return f"{1e3 * self.clock:.0f} ms ({1e3 * self.cpu:.0f} ms of the processor)"
        return f"{self.clock:.1f} s ({self.cpu:.1f} s of the processor)"


def best_of(times: int, task: Callable[[], Any]) -> tuple[Seconds, Any]:
    """The least time of several, and the last result."""
    clock, cpu, result = [], [], None
    for _ in range(times):
        start, cpu_start = time.perf_counter(), time.process_time()
        result = task()
        clock.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return Seconds(min(clock), min(cpu)), result


def speed() -> None:
    est, _, _ = breast_cancer()
    print("\n## Breast cancer, 569 x 30, after the fit\n")
    own, _ = best_of(7, lambda: weight_ranges(est._result.subproblems[0].models))
    print(f"All intervals of the fit again, for comparison: {own}.\n")
    print("| question | best of 7 | times the fit's intervals | programs | answers known |")
    print("| --- | --- | --- | --- | --- |")
    for asked in (
        {"worst radius": "drop"},
        {"worst radius": (0, 1)},
        {"worst radius": (2, None)},
        {"mean radius": "keep", "mean texture": "drop"},
        {"worst area": 1.0, "worst texture": (0.2, 0.8), "mean area": "drop"},
    ):
        seconds, found = best_of(7, lambda asked=asked: est.what_if(asked))  # type: ignore[misc]
        effort = found._result.subproblems[0].ranges.effort
        ratio = seconds.cpu / own.cpu
        print(f"| `{asked}` | {seconds} | {ratio:.1f} | {effort.programs} | {effort.spared} |")
    clash = {
        "worst radius": "drop",
        "worst perimeter": "drop",
        "worst area": "drop",
        "mean concave points": "drop",
        "worst concave points": "drop",
    }

    def ask() -> str:
        try:
            est.what_if(clash)
        except InfeasibleConstraintsError as error:
            return str(error)
        return "no clash"

    seconds, message = best_of(3, ask)
    print(f"| a clash of {len(clash)} | {seconds} | {seconds.cpu / own.cpu:.1f} | | |")
    print(f"\n{message}")
    seconds, found = best_of(3, est.relations)
    effort = found.effort
    print(
        f"\nAll relations of {int((found.labels_ >= 0).sum())} relevant features, groups and their "
        f"sums: best of 3, {seconds}; {effort.programs} programs solved, {effort.spared} "
        f"answers known.\n"
    )
    print("| group | together | smallest sum | largest sum | share of the norm |")
    print("| --- | --- | --- | --- | --- |")
    for group in found.feature_groups_:
        print(
            f"| {', '.join(group.features)} | {group.relevance} | {group.lower:.3f} "
            f"| {group.upper:.3f} | {group.norm_fraction:.1%} |"
        )


def cheapest() -> None:
    est, X, y = breast_cancer()
    print("\n## The cheapest models of breast cancer, each feature at a cost of 1\n")
    seconds, design = best_of(1, lambda: est.cheapest(max_seconds=60.0))
    best = design[0]
    print(
        f"{best.cost:g} features ({', '.join(best.features)}), proven: {best.proven}, in "
        f"{seconds}. Held-out accuracy {best.score:.4f} +- {best.score_error:.4f}; the full "
        f"baseline ({int(design.baseline_used.sum())} of 30 in use) {design.baseline_score:.4f} +- "
        f"{design.baseline_score_error:.4f}."
    )
    within = best.score >= design.baseline_score - design.baseline_score_error
    print(f"Within one standard error of the full baseline: {bool(within)}.")
    agree = float((best.predictor.predict(X) == y).mean())
    print(f"Accuracy of the model itself on the rows it was found on: {agree:.4f}.")


def wide() -> None:
    print("\n## 200 features\n")
    for counts in (
        {"n_alone": 2, "n_pairs": 3, "n_triples": 2, "n_sums": 2},
        {"n_alone": 4, "n_pairs": 6, "n_triples": 4, "n_sums": 4},
    ):
        n_planted = sum(
            size * counts[kind]
            for kind, size in (("n_alone", 1), ("n_pairs", 2), ("n_triples", 3), ("n_sums", 3))
        )
        data = make_planted_groups(
            400, n_irrelevant=200 - n_planted, flip=0.02, random_state=0, **counts
        )
        # Neither C nor the cutoff is what this is about, and both take long to learn.
        bounds = ClassificationBounds(C=0.1, cutoff=0.6).fit(data.X, data.y)
        seconds, found = best_of(1, bounds.relations)
        effort = found.effort
        rand = adjusted_rand_score(apart(data.group), apart(found.labels_))
        print(
            f"{n_planted} planted, {int((found.labels_ >= 0).sum())} found relevant: relations and "
            f"groups {seconds}, {effort.programs} programs solved, {effort.spared} answers "
            f"known, {effort.fallbacks} settled by HiGHS; adjusted Rand {rand:.3f}.",
            flush=True,
        )
        seconds, again = best_of(1, bounds.set_params(n_jobs=2).relations)
        same = np.array_equal(found.relations_, again.relations_)
        print(f"With two workers {seconds.clock:.1f} s by the clock; the same relations: {same}.")


def figure() -> None:
    """Draw the relations of breast cancer."""
    import matplotlib as mpl

    mpl.use("Agg")
    est, _, _ = breast_cancer()
    path = Path(__file__).parent.parent / "docs" / "images" / "relations.png"
    est.relations().plot().figure_.savefig(path, dpi=80)
    print(f"\nDrew {path.name}.")


PARTS = {"truth": truth, "speed": speed, "cheapest": cheapest, "wide": wide, "figure": figure}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    asked = parser.parse_args().part or list(PARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        for part in asked:
            PARTS[part]()


if __name__ == "__main__":
    main()
