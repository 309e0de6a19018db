"""Selection with networks on synthetic data, compared with LassoNet and mutual information.

There are 2,000 rows for ranking and 2,000 for evaluation. Of the 500 features, 20 are relevant: 5
are informative and 15 are combinations of them, as in MADELON (make_classification, 8 clusters per
class, class_sep 2). The evaluation model is the network "mlp", trained on the highest-ranked
features.

LassoNet requires a separate environment. Use --lassonet to set its Python; otherwise it is skipped.

usage: python -m benchmarks.network_selection [--epochs N] [--repeats N] [--seeds N ...]
                                              [--checkpoints FOLDER] [--lassonet PYTHON]
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import mutual_info_classif
from sklearn.preprocessing import StandardScaler

from allrelevant import NetworkClassifier

from .network_rankers import Order, Rankers

N_RELEVANT = 20
SIZES = (10, 20, 50)
PENALTY = 5e-3


class Case:
    """Synthetic data generated from one seed."""

    def __init__(self, seed: int) -> None:
        X, y = make_classification(
            4000,
            500,
            n_informative=5,
            n_redundant=N_RELEVANT - 5,
            n_clusters_per_class=8,
            class_sep=2.0,
            shuffle=False,
            random_state=seed,
        )
        rows = np.random.default_rng(seed).permutation(len(X))
        X, y = X[rows], y[rows]
        X = StandardScaler().fit(X[:2000]).transform(X)
        self.seed = seed
        self.X, self.y = X[:2000], y[:2000]
        self.X_new, self.y_new = X[2000:], y[2000:]

    def evaluate(self, order: Order, n_features: int, epochs: int) -> float:
        """Return the accuracy on new rows with the highest-ranked features."""
        selected = order[:n_features]
        network = NetworkClassifier(max_epochs=epochs, random_state=self.seed)
        return network.fit(self.X[:, selected], self.y).score(self.X_new[:, selected], self.y_new)


def rankers(args: argparse.Namespace) -> Rankers:
    label = f"table-{args.epochs}-{args.n_repeats}"
    network = NetworkClassifier(max_epochs=args.epochs)
    return Rankers(network, PENALTY, args.n_repeats, 1, args.checkpoints, label)


def by_saliency(case: Case, args: argparse.Namespace, *, gamma: float, masked: bool) -> Order:
    ranked = rankers(args).saliency(case.X, case.y, gamma=gamma, masked=masked, seed=case.seed)
    return ranked.order


def by_mask(case: Case, args: argparse.Namespace) -> Order:
    return rankers(args).mask(case.X, case.y, seed=case.seed).order


def by_information(case: Case, args: argparse.Namespace) -> Order:
    return np.argsort(-mutual_info_classif(case.X, case.y, random_state=case.seed))


def by_lassonet(case: Case, args: argparse.Namespace) -> Order:
    with tempfile.TemporaryDirectory() as folder:
        table, ranking = Path(folder) / "table.npz", Path(folder) / "order.npy"
        np.savez(table, X=case.X.astype(np.float32), y=case.y)
        script = Path(__file__).parent / "comparators" / "lassonet_order.py"
        subprocess.run([args.lassonet, script, table, ranking, str(case.seed)], check=True)
        return np.load(ranking)


def methods(args: argparse.Namespace) -> dict[str, Callable[[Case], Order]]:
    available: dict[str, Callable[[Case], Order]] = {
        "SFS, gamma .9": lambda case: by_saliency(case, args, gamma=0.9, masked=False),
        "SFS, gamma 0": lambda case: by_saliency(case, args, gamma=0.0, masked=False),
        "DFS": lambda case: by_mask(case, args),
        "SFS+DFS, gamma 0": lambda case: by_saliency(case, args, gamma=0.0, masked=True),
        "mutual information": lambda case: by_information(case, args),
    }
    if args.lassonet:
        available["LassoNet"] = lambda case: by_lassonet(case, args)
    else:
        print("LassoNet is skipped. Use --lassonet to set the Python of its environment.")
    return available


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument(
        "--repeats", type=int, default=3, dest="n_repeats", help="networks trained per round"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument(
        "--checkpoints",
        type=Path,
        help="folder for checkpoints; the times of a resumed run exclude the finished rounds",
    )
    parser.add_argument("--lassonet", default=None, help="Python of the environment of LassoNet")
    args = parser.parse_args()
    if args.checkpoints:
        args.checkpoints.mkdir(exist_ok=True)
    cases = [Case(seed) for seed in args.seeds]
    print(f"{args.epochs} epochs, {args.n_repeats} repetitions per round, seeds {args.seeds}\n")
    lines = []
    for name, rank in methods(args).items():
        accuracies, relevant, start = [], [], time.perf_counter()
        for case in cases:
            order = rank(case)
            relevant.append(int((order[:N_RELEVANT] < N_RELEVANT).sum()))
            seconds = time.perf_counter() - start
            accuracies.append([case.evaluate(order, size, args.epochs) for size in SIZES])
        cells = " / ".join(f"{100 * value:.1f}" for value in np.mean(accuracies, axis=0))
        time_per_case = f"{seconds / len(cases):.0f} s"
        lines.append(f"| {name} | {cells} | {np.mean(relevant):.1f} | {time_per_case} |")
        print(lines[-1], flush=True)
    all_features = [case.evaluate(np.arange(500), 500, args.epochs) for case in cases]
    print(
        "\n| ranked by | accuracy with 10 / 20 / 50 features "
        "| relevant features among the first 20 | time |"
    )
    print("| --- | --- | --- | --- |", *lines, sep="\n")
    print(f"\nAccuracy with all 500 features: {100 * np.mean(all_features):.1f}")


if __name__ == "__main__":
    main()
