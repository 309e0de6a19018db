"""Pictures: the small convolutional network as ranker and as judge (Tables 11 to 13 of the paper).

Cancela et al. (2020) have 60,000 rows, 40 epochs and more, and WRN-16-4 as the judge, which takes
a GPU. What is less here, the options say.

Resumable: rankings and what they are worth are kept in a folder, and not done again.

usage: python -m benchmarks.network_pictures --data FOLDER [--set NAME] [--results FOLDER]
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

from .kept import kept
from .network_rankers import Order, Ranked, Rankers
from .picture_sets import SETS, Pictures

METHODS = (("DFS", 0.0), ("SFS", 0.0), ("SFS", 0.9), ("SFS+DFS", 0.0), ("SFS+DFS", 0.9))

MASK_PENALTY = 5e-4
L2 = 5e-4


@dataclass(frozen=True)
class Effort:
    """How much of a set is used, and for how long.

    Attributes
    ----------
    rows : int
        That rankers are trained on.
    epochs, long_epochs : int
        Of each of many rounds, and of a single one.
    judge_rows, judge_epochs : int
        Of judges.
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
    """One row of a table.

    Attributes
    ----------
    set : str
    method : {"DFS", "SFS", "SFS+DFS", "all"}
        ``"all"`` judges with all features.
    gamma : float
    rows, epochs : int
        Of the ranker.
    judge_rows, judge_epochs : int
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
        """In the names of files."""
        ranker = f"{self.set}-{self.method}-{self.gamma}-{self.rows}x{self.epochs}"
        return f"{ranker}-{self.judge_rows}x{self.judge_epochs}"


def figures(
    folder: Path, settings: dict[str, Any], seed: int = 0, results: Path | None = None
) -> dict[str, Any]:
    """One row of Tables 11 to 13.

    Parameters
    ----------
    folder : Path
        With the data.
    settings : dict
        See :class:`BoundsSettings`.
    seed : int
    results : Path or None, default=None
        Where a long ranking is kept while it runs.

    Returns
    -------
    dict
        ``accuracy`` in percent at each size, ``zero_weights`` of the mask of DFS, ``seconds``.
    """
    row = Settings(**settings)
    data = SETS[row.set].load(folder)
    start = time.process_time()
    found = ranked(data, row, seed, results)
    sizes = SETS[row.set].sizes if row.method != "all" else (len(found.order),)
    ranking = time.process_time() - start
    return {
        "accuracy": [judged(data, found.order, size, row, seed) for size in sizes],
        "zero_weights": found.zero_weights,
        "ranking_seconds": ranking,
        "seconds": time.process_time() - start,
    }


def convolutional(name: str, epochs: int) -> NetworkClassifier:
    """With a learning rate that falls, for the epochs are few."""
    shape = SETS[name].shape
    return NetworkClassifier("cnn", image_shape=shape, max_epochs=epochs, annealing=True, l2=L2)


def ranked(data: Pictures, row: Settings, seed: int, results: Path | None) -> Ranked:
    """The features in their order."""
    if row.method == "all":
        return Ranked(np.arange(data.X.shape[1]))
    network = convolutional(row.set, row.epochs)
    rankers = Rankers(network, MASK_PENALTY, 1, min(SETS[row.set].sizes), results, row.label)
    X, y = data.first(row.rows)
    if row.method == "DFS":
        return rankers.mask(X, y, seed=seed)
    return rankers.saliency(X, y, gamma=row.gamma, masked="DFS" in row.method, seed=seed)


def judged(data: Pictures, order: Order, n_features: int, row: Settings, seed: int) -> float:
    """Accuracy on the test rows with the values that rank first; the others are black."""
    active = np.zeros(data.X.shape[1], dtype=np.float32)
    active[order[:n_features]] = 1
    network = convolutional(row.set, row.judge_epochs).set_params(random_state=seed + 1)
    X, y = data.first(row.judge_rows)
    return 100 * network.fit(X * active, y).score(data.X_new * active, data.y_new)


def rows_of(name: str, effort: Effort) -> list[Settings]:
    """Those of a table; last, all features."""
    judge = (effort.judge_rows, effort.judge_epochs)
    return [
        Settings(
            name,
            method,
            gamma,
            effort.rows,
            effort.epochs if gamma > 0 else effort.long_epochs,
            *judge,
        )
        for method, gamma in METHODS
    ] + [Settings(name, "all", 0.0, 0, 0, *judge)]


def line(row: Settings, found: dict[str, Any]) -> str:
    cells = " | ".join(f"{accuracy:.2f}" for accuracy in found["accuracy"])
    published = SETS[row.set].published.get(row.title, ())
    paper = " / ".join(f"{accuracy:.2f}" for accuracy in published)
    return f"| {row.title} | {cells} | {paper} | {found['ranking_seconds']:.0f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=SETS, default="mnist")
    parser.add_argument("--results", type=Path, default=Path("network-checkpoints"))
    for field in fields(Effort):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=int)
    args = parser.parse_args()
    args.results.mkdir(exist_ok=True)
    given = {field.name: getattr(args, field.name) for field in fields(Effort)}
    chosen = {name: value for name, value in given.items() if value is not None}
    effort = replace(EFFORTS[args.set], **chosen)
    rows = rows_of(args.set, effort)
    found = {
        row: kept(
            args.results / f"{row.label}.json",
            partial(figures, args.data, asdict(row), results=args.results),
        )
        for row in rows
    }
    sizes = SETS[args.set].sizes
    print(f"\n{effort}\n\n| ranked by | {' | '.join(map(str, sizes))} | the paper's | ranking |")
    print(f"|{' --- |' * (len(sizes) + 3)}")
    *ranked_rows, everything = rows
    for row in ranked_rows:
        print(line(row, found[row]))
    n_features = int(np.prod(SETS[args.set].shape))
    print(f"\nWith all {n_features} features: {found[everything]['accuracy'][0]:.2f}")
    print(f"Weights of the mask of DFS that are zero: {found[rows[0]]['zero_weights']}")
    print(f"Processor time: {sum(one['seconds'] for one in found.values()):.0f} s")


if __name__ == "__main__":
    main()
