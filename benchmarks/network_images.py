"""Feature selection on images with a small convolutional network.

These are Tables 11 to 13 of Cancela et al. (2020). The paper uses up to 60,000 rows, at least 40
epochs, and WRN-16-4 for evaluation, which requires a GPU. Here the network "cnn" ranks the features
and evaluates the rankings. The options set the numbers of rows and epochs.

Results are stored in a folder. To resume an interrupted run, repeat the command.

usage: python -m benchmarks.network_images --data FOLDER [--set NAME] [--results FOLDER]
           [--rows N] [--epochs N] [--long-epochs N] [--judge-rows N] [--judge-epochs N]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant import NetworkClassifier

from .image_sets import SETS, Images
from .network_rankers import Order, Ranked, Rankers
from .result_cache import load_or_compute

METHODS = (("DFS", 0.0), ("SFS", 0.0), ("SFS", 0.9), ("SFS+DFS", 0.0), ("SFS+DFS", 0.9))

MASK_PENALTY = 5e-4
L2 = 5e-4


@dataclass(frozen=True)
class Effort:
    """Numbers of rows and epochs for ranking and evaluation.

    Attributes
    ----------
    rows : int
        Number of rows for ranking.
    epochs, long_epochs : int
        Number of epochs if there are many rounds, and if there is a single round.
    judge_rows, judge_epochs : int
        Numbers of rows and epochs for evaluation.
    """

    rows: int
    epochs: int
    long_epochs: int
    judge_rows: int
    judge_epochs: int


EFFORTS = {
    "mnist": Effort(5_000, 2, 10, 20_000, 3),
    "fashion_mnist": Effort(2_000, 2, 6, 5_000, 3),
    "cifar10": Effort(1_000, 2, 6, 3_000, 3),
}


@dataclass(frozen=True)
class Settings:
    """Dataset, ranking method and training effort of one table row.

    Attributes
    ----------
    set : str
        Name of the dataset.
    method : {"DFS", "SFS", "SFS+DFS", "all"}
        Ranking method; ``"all"`` evaluates all features.
    gamma : float
        Fraction of features kept per round; zero for a single round.
    rows, epochs : int
        Numbers of rows and epochs for ranking.
    judge_rows, judge_epochs : int
        Numbers of rows and epochs for evaluation.
    """

    set: str
    method: str
    gamma: float
    rows: int
    epochs: int
    judge_rows: int
    judge_epochs: int

    @property
    def title(self) -> str:
        return self.method if self.method == "DFS" else f"{self.method}, gamma {self.gamma:g}"

    @property
    def label(self) -> str:
        """Return the base name of the result files of this table row."""
        ranker = f"{self.set}-{self.method}-{self.gamma}-{self.rows}x{self.epochs}"
        return f"{ranker}-{self.judge_rows}x{self.judge_epochs}"


def figures(
    folder: Path, settings: dict[str, Any], seed: int = 0, results: Path | None = None
) -> dict[str, Any]:
    """Rank image features and evaluate the ranking, as in a row of the paper's Tables 11 to 13.

    Parameters
    ----------
    folder : Path
        Folder with the data.
    settings : dict
        Attributes of :class:`Settings`.
    seed : int
    results : Path or None, default=None
        Folder for checkpoints of long rankings.

    Returns
    -------
    dict
        ``accuracy`` in percent for each size, ``zero_weights`` of the mask of DFS, and the CPU time
        for the ranking (``ranking_seconds``) and for everything (``seconds``).
    """
    row = Settings(**settings)
    data = SETS[row.set].load(folder)
    start = time.process_time()
    ranked = rank(data, row, seed, results)
    sizes = SETS[row.set].sizes if row.method != "all" else (len(ranked.order),)
    ranking_seconds = time.process_time() - start
    return {
        "accuracy": [evaluate(data, ranked.order, size, row, seed) for size in sizes],
        "zero_weights": ranked.zero_weights,
        "ranking_seconds": ranking_seconds,
        "seconds": time.process_time() - start,
    }


def convolutional(name: str, epochs: int) -> NetworkClassifier:
    """Return the predefined convolutional network with annealing, because epochs are few."""
    shape = SETS[name].shape
    return NetworkClassifier("cnn", image_shape=shape, max_epochs=epochs, annealing=True, l2=L2)


def rank(data: Images, row: Settings, seed: int, results: Path | None) -> Ranked:
    """Rank the features of the training images with the method of a table row."""
    if row.method == "all":
        return Ranked(np.arange(data.X.shape[1]))
    network = convolutional(row.set, row.epochs)
    rankers = Rankers(network, MASK_PENALTY, 1, min(SETS[row.set].sizes), results, row.label)
    X, y = data.first(row.rows)
    if row.method == "DFS":
        return rankers.mask(X, y, seed=seed)
    return rankers.saliency(X, y, gamma=row.gamma, masked="DFS" in row.method, seed=seed)


def evaluate(data: Images, order: Order, n_features: int, row: Settings, seed: int) -> float:
    """Return the test accuracy with the highest-ranked features; the others are set to zero."""
    active = np.zeros(data.X.shape[1], dtype=np.float32)
    active[order[:n_features]] = 1
    network = convolutional(row.set, row.judge_epochs).set_params(random_state=seed + 1)
    X, y = data.first(row.judge_rows)
    return 100 * network.fit(X * active, y).score(data.X_new * active, data.y_new)


def rows_of(name: str, effort: Effort) -> list[Settings]:
    """Return the settings of all table rows of a dataset; the last row uses all features."""
    evaluation = (effort.judge_rows, effort.judge_epochs)
    return [
        Settings(
            name,
            method,
            gamma,
            effort.rows,
            effort.epochs if gamma > 0 else effort.long_epochs,
            *evaluation,
        )
        for method, gamma in METHODS
    ] + [Settings(name, "all", 0.0, 0, 0, *evaluation)]


def format_row(row: Settings, result: dict[str, Any]) -> str:
    cells = " | ".join(f"{accuracy:.2f}" for accuracy in result["accuracy"])
    published = SETS[row.set].published.get(row.title, ())
    paper = " / ".join(f"{accuracy:.2f}" for accuracy in published)
    return f"| {row.title} | {cells} | {paper} | {result['ranking_seconds']:.0f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the images")
    parser.add_argument("--set", choices=SETS, default="mnist")
    parser.add_argument(
        "--results", type=Path, default=Path("network-checkpoints"), help="folder for the results"
    )
    for field in fields(Effort):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=int)
    args = parser.parse_args()
    args.results.mkdir(exist_ok=True)
    options = {field.name: getattr(args, field.name) for field in fields(Effort)}
    changes = {name: value for name, value in options.items() if value is not None}
    effort = replace(EFFORTS[args.set], **changes)
    rows = rows_of(args.set, effort)
    results = {
        row: load_or_compute(
            args.results / f"{row.label}.json",
            partial(figures, args.data, asdict(row), results=args.results),
        )
        for row in rows
    }
    sizes = SETS[args.set].sizes
    titles = ["ranked by", *map(str, sizes), "accuracy in the paper", "ranking time"]
    print(f"\n{effort}\n\n| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    *ranked_rows, all_features = rows
    for row in ranked_rows:
        print(format_row(row, results[row]))
    n_features = int(np.prod(SETS[args.set].shape))
    print(f"\nAccuracy with all {n_features} features: {results[all_features]['accuracy'][0]:.2f}")
    print(f"Zero weights of the mask of DFS: {results[rows[0]]['zero_weights']}")
    print(f"CPU time: {sum(result['seconds'] for result in results.values()):.0f} s")


if __name__ == "__main__":
    main()
