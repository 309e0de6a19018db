"""F1 scores of the relevance classes on data with known ground truth, with default settings.

The data are those of Göpfert et al. (2018, Table 2) and Göpfert et al. (2017, Table 1), and two
synthetic tables of 400 x 20. There are ten instances of each with clean labels, and ten with 10% of
the labels flipped.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from allrelevant import ClassificationBounds, RelevanceWarning
from benchmarks.scores import class_scores
from benchmarks.sets import ESANN17, FEREL18, GENERAL, Generator

Formulation = Literal["separate", "joint"]

CLEAN_SEEDS = range(10)
FLIPPED_SEEDS = range(10, 20)

# F1 of the relevant features that the papers report for their own method.
PAPER = {
    "ferel18 A": 1.00,
    "ferel18 B": 0.98,
    "esann17 I": 0.98,
    "esann17 II": 0.97,
    "esann17 III": 0.98,
}


def mean_scores(
    generator: Generator, seeds: Iterable[int], flip: float, formulation: Formulation
) -> Mapping[str, float]:
    """Return the mean F1 scores over seeds, and the worst F1 score of the relevant features."""
    scores = []
    for seed in seeds:
        data = generator(flip=flip, random_state=seed)
        bounds = ClassificationBounds(formulation=formulation, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)
            bounds.fit(data.X, data.y)
        scores.append(class_scores(data.relevance, bounds.relevance_))
    means = {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return {**means, "worst": min(score["relevant"] for score in scores)}


def print_table(
    sets: Mapping[str, Generator], seeds: range, flip: float, formulation: Formulation
) -> None:
    labels = f"{100 * flip:.0f}% of the labels flipped" if flip else "clean labels"
    print(
        f'\nResults with {labels}, `formulation="{formulation}"`, '
        f"seeds {seeds.start} to {seeds.stop - 1}:\n"
    )
    print("| Data | Paper, relevant | Relevant | Relevant, worst instance | Strong | Weak |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, generator in sets.items():
        score = mean_scores(generator, seeds, flip, formulation)
        paper = f"{PAPER[name]:.2f}" if not flip and name in PAPER else ""
        print(
            f"| {name} | {paper} | {score['relevant']:.3f} | {score['worst']:.3f} | "
            f"{score['strong']:.3f} | {score['weak']:.3f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--formulation", choices=["separate", "joint"], default="separate")
    formulation = parser.parse_args().formulation
    print_table({**FEREL18, **ESANN17, **GENERAL}, CLEAN_SEEDS, 0.0, formulation)
    print_table({**FEREL18, **ESANN17, **GENERAL}, FLIPPED_SEEDS, 0.1, formulation)


if __name__ == "__main__":
    main()
