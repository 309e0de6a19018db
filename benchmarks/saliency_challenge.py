"""MADELON, ARCENE, DEXTER and DOROTHEA: rankers judged by SVMs, beside the published tables.

Each of the four kernels ranks, with gamma 0 and 0.975, a network does, with gamma 0.9, and so do
the mask of DFS and two filters. Each kernel judges every ranking: the best
accuracy on the test rows over subsets of growing size, and the smallest size that has it. That is
how Cancela et al. (2020) report, and flatters every method alike: the size is chosen on the test
rows.

Resumable: rankings and what they are worth are kept in a folder, and not done again.

usage: python -m benchmarks.saliency_challenge --data FOLDER [--results FOLDER] [--sets NAME ...]
                                               [--gammas NUMBER ...] [--rankers GROUP ...]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from allrelevant import RelevanceWarning

from .kept import kept
from .saliency_linear import MODELS, fitted
from .saliency_rankers import FILTERS, Ranking, ranked
from .saliency_sets import COEF0, KERNELS, PUBLISHED, ChallengeSet, load

GAMMAS = (0.0, 0.975)
GROUPS = ("svm", "filters", "networks", "linear")

# Of the one training of DFS, and of each of the many of SFS; the paper has 100 throughout.
EPOCHS = {"arcene": (100, 100), "madelon": (30, 30), "dexter": (30, 30), "dorothea": (20, 4)}

Found = dict[Ranking, dict[str, Any]]
Rows = dict[str, list[str]]


def rankings(name: str, groups: Sequence[str], gammas: Sequence[float]) -> list[Ranking]:
    """Who ranks a set."""
    chosen: list[Ranking] = []
    if "svm" in groups:
        chosen += [Ranking(kernel, gamma) for gamma in gammas for kernel in KERNELS]
    if "filters" in groups:
        chosen += [Ranking(ranker) for ranker in FILTERS]
    if "networks" in groups:
        of_mask, of_saliency = EPOCHS[name]
        chosen.append(Ranking("DFS", epochs=of_mask))
        chosen.append(Ranking("NN", 0.9, epochs=of_saliency, reps=3))
    return chosen


def sizes_to_judge(n_rows: int, n_features: int) -> list[int]:
    """Every size up to 20, then in steps that are larger where rows are many and judging slow.

    Of 4 %, and 50 % with MADELON.
    """
    step = 1.04 if n_rows <= 1_000 else 1.5
    sizes = list(range(1, min(20, n_features) + 1))
    while sizes[-1] < n_features:
        sizes.append(min(n_features, max(sizes[-1] + 1, round(sizes[-1] * step))))
    return sizes


@dataclass(frozen=True)
class Products:
    """Inner products over some features, of training rows and of test rows with them.

    ``scale`` is one over gamma: the number of features, and times their variance if so asked for.
    """

    n_features: int
    train: np.ndarray
    test: np.ndarray
    test_lengths: np.ndarray
    scale: float

    def kernels(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The kernel among training rows, and of test rows with them."""
        own = np.diag(self.train)
        return (
            self._kernel(name, self.train, own, own),
            self._kernel(name, self.test, self.test_lengths, own),
        )

    def _kernel(self, name: str, inner: np.ndarray, rows: np.ndarray, own: np.ndarray) -> Any:
        if name == "linear":
            return inner
        if name == "rbf":
            return np.exp(-(rows[:, None] + own[None, :] - 2 * inner) / self.scale)
        argument = inner / self.scale + COEF0[name]
        return argument**3 if name == "poly" else np.tanh(argument)


def growing_products(data: ChallengeSet, order: np.ndarray) -> Iterator[Products]:
    """Over the first features of a ranking, from one size to the next."""
    n_train = len(data.y)
    train, test = np.zeros((n_train, n_train)), np.zeros((len(data.y_test), n_train))
    lengths, total, before = np.zeros(len(data.y_test)), 0.0, 0
    for size in sizes_to_judge(*data.X.shape):
        own, other = data.X[:, order[before:size]], data.X_test[:, order[before:size]]
        train += dense(own @ own.T)
        test += dense(other @ own.T)
        lengths += np.asarray((other * other).sum(axis=1)).ravel()
        total += float(own.sum())
        before = size
        variance = np.trace(train) / (n_train * size) - (total / (n_train * size)) ** 2
        scale = size if data.factor == "auto" else size * variance
        yield Products(size, train, test, lengths, scale)


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else values


def judged(data: ChallengeSet, order: np.ndarray) -> dict[str, list[tuple[int, float]]]:
    """Accuracy of each kernel at each size."""
    found: dict[str, list[tuple[int, float]]] = {kernel: [] for kernel in KERNELS}
    for products in growing_products(data, order):
        for kernel in KERNELS:
            train, test = products.kernels(kernel)
            svc = data.machine(kernel).set_params(kernel="precomputed").fit(train, data.y)
            accuracy = float((svc.predict(test) == data.y_test).mean())
            found[kernel].append((products.n_features, accuracy))
    return found


def figures(folder: Path, settings: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """One row of Tables 2 and 4 to 8.

    Parameters
    ----------
    folder : Path
        With the data.
    settings : dict
        ``set``: its name; the others are those of :class:`Ranking`.
    seed : int

    Returns
    -------
    dict
        ``accuracy``: of each kernel at each size; ``seconds`` and what else the ranking took.
    """
    own = {name: value for name, value in settings.items() if name != "set"}
    return judged_ranking(load(settings["set"], folder), Ranking(**own), seed)


def judged_ranking(
    data: ChallengeSet, ranking: Ranking, seed: int = 0, checkpoint: Path | None = None
) -> dict[str, Any]:
    """Rank, and judge."""
    start = time.perf_counter()
    found = ranked(data, ranking, seed, checkpoint)
    order = found.pop("order")
    found |= {"seconds": time.perf_counter() - start, "accuracy": judged(data, order)}
    if data.relevant is not None:
        found["relevant in the first 20"] = int(np.isin(order[:20], data.relevant).sum())
    return found


def result(data: ChallengeSet, ranking: Ranking, folder: Path) -> dict[str, Any]:
    """The same, kept in a folder."""
    stem = folder / f"{data.name}-{ranking.label}"
    checkpoint = stem.with_name(f"{stem.name}.ckpt")
    return kept(
        stem.with_name(f"{stem.name}.json"),
        lambda: judged_ranking(data, ranking, checkpoint=checkpoint),
    )


def best(found: dict[str, Any], kernel: str) -> tuple[float, int]:
    """Highest accuracy, and the smallest size that has it."""
    size, accuracy = max(found["accuracy"][kernel], key=lambda pair: (pair[1], -pair[0]))
    return 100 * accuracy, size


def shown(pair: tuple[float, int]) -> str:
    return f"{pair[0]:.1f} ({pair[1]})"


def of_filters(found: Found) -> Rows:
    """A row for each filter that has judged."""
    return {
        name: [shown(best(found[Ranking(name)], kernel)) for kernel in KERNELS]
        for name in FILTERS
        if Ranking(name) in found
    }


def of_machines(found: Found, gamma: float) -> Rows:
    """The kernel as its own ranker, and the best ranker of each."""
    by_ranker = {kernel: found[Ranking(kernel, gamma)] for kernel in KERNELS}
    same = [shown(best(by_ranker[kernel], kernel)) for kernel in KERNELS]
    top = [
        max((best(one, kernel) for one in by_ranker.values()), key=lambda pair: (pair[0], -pair[1]))
        for kernel in KERNELS
    ]
    title = f"gamma {gamma:g}"
    return {f"SFS same, {title}": same, f"SFS best, {title}": [shown(pair) for pair in top]}


def of_networks(found: Found) -> Rows:
    """DFS, and SFS with a network."""
    titles = {"DFS": "DFS", "NN": "SFS NN, gamma 0.9"}
    return {
        titles[ranking.ranker]: [shown(best(one, kernel)) for kernel in KERNELS]
        for ranking, one in found.items()
        if ranking.ranker in titles
    }


def of_linear(linear: dict[str, dict[str, Any]]) -> Rows:
    """Classifiers of their own: no other is trained on what they select."""
    return {
        name: [shown((100 * one["accuracy"], one["n_features"])), "", "", ""]
        for name, one in linear.items()
    }


def print_set(name: str, found: Found, linear: dict[str, dict[str, Any]]) -> None:
    head = " | ".join(KERNELS)
    print(f"\n### {name.upper()}\n\n| ranker | {head} | published: {head} |")
    print(f"|{' --- |' * 9}")
    everything = next(iter(found.values()))["accuracy"]
    rows = {"all features": [f"{100 * everything[kernel][-1][1]:.1f}" for kernel in KERNELS]}
    rows |= of_linear(linear) | of_filters(found)
    gammas = sorted({ranking.gamma for ranking in found if ranking.ranker in KERNELS})
    for gamma in gammas:
        rows |= of_machines(found, gamma)
    rows |= of_networks(found)
    for title, row in rows.items():
        print(f"| {title} | {' | '.join(row)} | {' | '.join(PUBLISHED[name][title])} |")
    print_rankers(found)


def print_rankers(found: Found) -> None:
    """Every ranker with many rounds: how all judge it, and what it took."""
    print(f"\n| ranker | {' | '.join(KERNELS)} | rounds | training s | saliency s |")
    print(f"|{' --- |' * 8}")
    for ranking, one in found.items():
        if ranking.gamma == 0:
            continue
        cells = " | ".join(shown(best(one, kernel)) for kernel in KERNELS)
        times = f"{one['training_seconds']:.0f} | {one['saliency_seconds']:.0f}"
        print(f"| {ranking.title} | {cells} | {one['n_rounds']} | {times} |")
    print()
    for key, what in (
        ("relevant in the first 20", "Of the 20 relevant features, among the first 20"),
        ("zero_weights", "Weights of the mask that became zero"),
    ):
        counts = [f"{one[key]} ({ranking.title})" for ranking, one in found.items() if key in one]
        if counts:
            print(f"{what}: {', '.join(counts)}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("saliency-results"))
    parser.add_argument("--sets", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    parser.add_argument("--gammas", nargs="+", type=float, choices=GAMMAS, default=list(GAMMAS))
    parser.add_argument("--rankers", nargs="+", choices=GROUPS, default=list(GROUPS))
    args = parser.parse_args()
    args.results.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", ConvergenceWarning)  # the caps on steps, on purpose
    warnings.simplefilter("ignore", RelevanceWarning)  # some columns are constant
    with threadpool_limits(1):
        for name in args.sets:
            if not (args.data / f"{name}.npz").exists():
                print(f"skipped: no {name}.npz in the data folder")
                continue
            data = load(name, args.data)
            runs = rankings(name, args.rankers, args.gammas)
            found = {ranking: result(data, ranking, args.results) for ranking in runs}
            linear = {
                model: kept(args.results / f"{name}-{model}.json", partial(fitted, data, model))
                for model in (MODELS if "linear" in args.rankers else ())
            }
            print_set(name, found, linear)


if __name__ == "__main__":
    main()
