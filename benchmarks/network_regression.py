"""The regression side: CT slices (Table 9 of Cancela et al. 2020) and a generated table.

Of the 53,500 CT slices there are the first 682 here, of two patients, so errors are far smaller
than those of the paper and only the order of the methods compares. Mean absolute errors, over
random folds; slices next to each other are alike, in the paper's folds as well.

The generated table is Friedman's first: 5 of 100 features decide, by a product, a square and sums.

usage: python -m benchmarks.network_regression --data FOLDER [--epochs N] [--folds N]
                                               [--checkpoints FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from allrelevant import NetworkRegressor

from .network_rankers import Order, Rankers

GAMMAS = (0.0, 0.9)
# Table 9, at 19, 38, 96 and 192 features.
PAPER = {
    "DFS": "4.18 / 2.84 / 2.32 / 2.39",
    "SFS, gamma 0": "6.55 / 3.70 / 2.71 / 2.24",
    "SFS, gamma 0.9": "4.18 / 3.16 / 2.60 / 2.31",
    "SFS+DFS, gamma 0": "4.41 / 2.94 / 2.25 / 2.40",
    "SFS+DFS, gamma 0.9": "4.08 / 2.87 / 2.30 / 2.27",
}


def error(
    parts: tuple[NDArray, ...], order: Order, n_features: int, network: NetworkRegressor
) -> float:
    """Mean absolute error on the rows left out, with the features that rank first."""
    X, X_new, y, y_new = parts
    kept = order[:n_features]
    return mean_absolute_error(y_new, network.fit(X[:, kept], y).predict(X_new[:, kept]))


def compare(
    X: NDArray, y: NDArray, sizes: tuple[int, ...], args: argparse.Namespace, name: str
) -> tuple[dict[str, NDArray], dict[str, list[Order]]]:
    """Mean errors over the folds by method and number of features, and the rankings."""
    errors: dict[str, list[list[float]]] = {}
    orders: dict[str, list[Order]] = {}
    for fold, (train, test) in enumerate(KFold(args.folds, shuffle=True, random_state=0).split(X)):
        scaler = StandardScaler().fit(X[train])
        parts = (scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test])
        network = NetworkRegressor(max_epochs=args.epochs)
        label = f"{name}-{args.epochs}-{args.folds}-{fold}"
        rankers = Rankers(network, args.penalty, 2, min(sizes), args.checkpoints, label)
        found = rankers.everything(
            parts[0], parts[2], seed=fold, gammas=GAMMAS, masked_gammas=GAMMAS
        )
        for method, order in found.items():
            judge = NetworkRegressor(max_epochs=args.epochs, random_state=fold)
            row = [error(parts, order, size, judge) for size in sizes]
            errors.setdefault(method, []).append(row)
            orders.setdefault(method, []).append(order)
            print(f"  {method}: {' / '.join(f'{e:.3f}' for e in row)}", flush=True)
    return {method: np.mean(rows, axis=0) for method, rows in errors.items()}, orders


def print_ct(args: argparse.Namespace) -> None:
    path = args.data / "ct_slices_first682.npz"
    if not path.exists():
        print(f"{path.name} is not in {args.data}: left out.")
        return
    data = np.load(path)
    X = data["X"][:, data["X"].std(axis=0) > 0]
    sizes = (19, 38, 96, 192)
    errors, _ = compare(X.astype(np.float64), data["y"].astype(np.float64), sizes, args, "ct")
    print(f"\n| CT slices, ranked by | {' | '.join(map(str, sizes))} | the paper's, all rows |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method, row in errors.items():
        print(f"| {method} | {' | '.join(f'{e:.3f}' for e in row)} | {PAPER[method]} |")


def print_generated(args: argparse.Namespace) -> None:
    X, y = make_friedman1(1500, n_features=100, noise=1.0, random_state=0)
    sizes = (5, 10, 50)
    errors, orders = compare(X, y, sizes, args, "friedman")
    print(f"\n| generated, ranked by | {' | '.join(map(str, sizes))} | of the 5, in the first 5 |")
    print("| --- | --- | --- | --- | --- |")
    for method, row in errors.items():
        hits = np.mean([(order[:5] < 5).sum() for order in orders[method]])
        print(f"| {method} | {' | '.join(f'{e:.3f}' for e in row)} | {hits:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--penalty", type=float, default=5e-3)
    parser.add_argument("--checkpoints", type=Path, default=Path("network-checkpoints"))
    args = parser.parse_args()
    args.checkpoints.mkdir(exist_ok=True)
    print(f"{args.epochs} epochs, {args.folds} folds, mask penalty {args.penalty}", flush=True)
    print_ct(args)
    print_generated(args)


if __name__ == "__main__":
    main()
