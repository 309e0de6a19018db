"""MADELON, ARCENE, DEXTER and DOROTHEA: SVMs as rankers and as judges, beside the published tables.

Each of the four kernels ranks, with gamma 0 and 0.975, and each judges every ranking: the best
accuracy on the test rows over subsets of growing size, and the smallest size that has it. That is
how Cancela et al. (2020) report, and flatters every method alike: the size is chosen on the test
rows.

Resumable: rankings and what they are worth are kept in a folder, and not done again.

usage: python -m benchmarks.saliency_challenge --data FOLDER [--results FOLDER] [--sets NAME ...]
                                               [--gammas NUMBER ...]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from allrelevant import RelevanceWarning, SaliencySelector

from .comparators.filters import mutual_information, relieff
from .saliency_sets import COEF0, KERNELS, PUBLISHED, ChallengeSet, load

GAMMAS = (0.0, 0.975)
FILTERS = {"MIM": mutual_information, "ReliefF": relieff}


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


def ranked(data: ChallengeSet, ranker: str, gamma: float, folder: Path) -> dict[str, Any]:
    if ranker in FILTERS:
        return {"order": np.argsort(-FILTERS[ranker](data.X, data.y), kind="stable").tolist()}
    selector = SaliencySelector(
        data.machine(ranker),
        gamma=gamma,
        reps=1,
        n_features_to_select=1,
        random_state=0,
        checkpoint=folder / f"{data.name}-{ranker}-{gamma}.ckpt",
    ).fit(data.X, data.y)
    history = selector.history_
    return {
        "order": np.argsort(selector.ranking_).tolist(),
        "training_seconds": history["training_seconds"].sum(),
        "saliency_seconds": history["saliency_seconds"].sum(),
        "n_rounds": len(history),
    }


def result(data: ChallengeSet, ranker: str, gamma: float, folder: Path) -> dict[str, Any]:
    path = folder / f"{data.name}-{ranker}-{gamma}.json"
    if path.exists():
        return json.loads(path.read_text())
    start = time.perf_counter()
    found = ranked(data, ranker, gamma, folder)
    order = np.array(found.pop("order"))
    found |= {"seconds": time.perf_counter() - start, "accuracy": judged(data, order)}
    if data.relevant is not None:
        found["relevant in the first 20"] = int(np.isin(order[:20], data.relevant).sum())
    path.write_text(json.dumps(found))
    print(f"{path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    return found


def best(found: dict[str, Any], kernel: str) -> tuple[float, int]:
    """Highest accuracy, and the smallest size that has it."""
    size, accuracy = max(found["accuracy"][kernel], key=lambda pair: (pair[1], -pair[0]))
    return 100 * accuracy, size


def shown(pair: tuple[float, int]) -> str:
    return f"{pair[0]:.1f} ({pair[1]})"


def print_set(
    name: str, found: dict[tuple[str, float], dict[str, Any]], gammas: list[float]
) -> None:
    head = " | ".join(KERNELS)
    print(f"\n### {name}\n\n| ranker | {head} | published: {head} |")
    print(f"|{' --- |' * 9}")
    everything = next(iter(found.values()))["accuracy"]
    rows = {"all features": [f"{100 * everything[kernel][-1][1]:.1f}" for kernel in KERNELS]}
    for filter_name in FILTERS:
        of_filter = found[filter_name, 0.0]
        rows[filter_name] = [shown(best(of_filter, kernel)) for kernel in KERNELS]
    for gamma in gammas:
        title = f"gamma {gamma:g}"
        same = [shown(best(found[kernel, gamma], kernel)) for kernel in KERNELS]
        top = [
            max(
                (best(found[ranker, gamma], kernel) for ranker in KERNELS),
                key=lambda pair: (pair[0], -pair[1]),
            )
            for kernel in KERNELS
        ]
        rows[f"SFS same, {title}"] = same
        rows[f"SFS best, {title}"] = [shown(pair) for pair in top]
    for title, row in rows.items():
        print(f"| {title} | {' | '.join(row)} | {' | '.join(PUBLISHED[name][title])} |")
    last = gammas[-1]
    print(f"\n| ranker, gamma {last:g} | {head} | rounds | training s | saliency s |")
    print(f"|{' --- |' * 8}")
    for ranker in KERNELS:
        one = found[ranker, last]
        cells = " | ".join(shown(best(one, kernel)) for kernel in KERNELS)
        times = f"{one['training_seconds']:.0f} | {one['saliency_seconds']:.0f}"
        print(f"| {ranker} | {cells} | {one['n_rounds']} | {times} |")
    counts = {
        f"{ranker} {gamma:g}": one["relevant in the first 20"]
        for (ranker, gamma), one in found.items()
        if "relevant in the first 20" in one
    }
    if counts:
        print(f"\nOf the 20 relevant features, among the first 20: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("saliency-results"))
    parser.add_argument("--sets", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    parser.add_argument("--gammas", nargs="+", type=float, choices=GAMMAS, default=list(GAMMAS))
    args = parser.parse_args()
    args.results.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", ConvergenceWarning)  # the cap on libsvm's steps, on purpose
    warnings.simplefilter("ignore", RelevanceWarning)  # some columns are constant
    with threadpool_limits(1):
        for name in args.sets:
            if not (args.data / f"{name}.npz").exists():
                print(f"skipped: no {name}.npz in the data folder")
                continue
            data = load(name, args.data)
            runs = [(ranker, gamma) for gamma in args.gammas for ranker in KERNELS]
            runs += [(filter_name, 0.0) for filter_name in FILTERS]
            found = {run: result(data, *run, args.results) for run in runs}
            print_set(name, found, args.gammas)


if __name__ == "__main__":
    main()
