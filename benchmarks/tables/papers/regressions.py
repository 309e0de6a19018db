"""Feature rankings by networks for regression, as in Cancela et al. (2020), Tables 9 and 10."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from ..table import Column, Figures, Row, Table

if TYPE_CHECKING:
    from allrelevant import NetworkRegressor

METHODS = (("DFS", 0.0), ("SFS", 0.0), ("SFS", 0.9), ("SFS+DFS", 0.0), ("SFS+DFS", 0.9))
N_FOLDS = 2
EPOCHS = 30
MASK_PENALTY = 5e-4
N_REPEATS = 2
CT_SIZES = (19, 38, 96, 192)
FRIEDMAN_SIZES = (5, 10, 50)
# Errors in Table 9, on all 53,500 rows.
PUBLISHED = {
    "DFS": (4.18, 2.84, 2.32, 2.39),
    "SFS, gamma 0": (6.55, 3.70, 2.71, 2.24),
    "SFS, gamma 0.9": (4.18, 3.16, 2.60, 2.31),
    "SFS+DFS, gamma 0": (4.41, 2.94, 2.25, 2.40),
    "SFS+DFS, gamma 0.9": (4.08, 2.87, 2.30, 2.27),
}
METHODS_TEXT = """\
SFS (saliency-based feature selection) ranks features by the saliency of a network. It uses a single
round (gamma 0) or several rounds that each keep 90% of the features (gamma 0.9). DFS (deep
feature selection) ranks features by a sparse mask on the inputs of a network. SFS+DFS ranks
features by the saliency of a network with such a mask."""

Data = tuple[np.ndarray, np.ndarray]


def ct_slices(folder: Path) -> Data:
    data = np.load(folder / "ct_slices_first682.npz")
    X = data["X"][:, data["X"].std(axis=0) > 0].astype(np.float64)
    return X, data["y"].astype(np.float64)


def friedman(_: Path) -> Data:
    return make_friedman1(1500, n_features=100, noise=1.0, random_state=0)


def measure(
    seed: int,
    folder: Path,
    *,
    load: Callable[[Path], Data],
    sizes: tuple[int, ...],
    method: str,
    gamma: float,
) -> Figures:
    """Return the errors on one fold; the seed selects the fold and initializes the networks."""
    from allrelevant import NetworkRegressor

    from ...network_rankers import Rankers

    X, y = load(folder)
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[seed]
    scaler = StandardScaler().fit(X[train])
    parts = (scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test])
    network = NetworkRegressor(max_epochs=EPOCHS)
    rankers = Rankers(network, MASK_PENALTY, N_REPEATS, min(sizes), None, "")
    if method == "DFS":
        ranked = rankers.mask(parts[0], parts[2], seed=seed)
    else:
        masked = "DFS" in method
        ranked = rankers.saliency(parts[0], parts[2], gamma=gamma, masked=masked, seed=seed)
    model = NetworkRegressor(max_epochs=EPOCHS, random_state=seed)
    errors = {str(size): held_out_error(model, parts, ranked.order[:size]) for size in sizes}
    return errors | {"first": int((ranked.order[:5] < 5).sum())}


def held_out_error(
    model: NetworkRegressor, parts: tuple[np.ndarray, ...], features: np.ndarray
) -> float:
    """Return the mean absolute error on the held-out rows with the given features."""
    X, X_test, y, y_test = parts
    return mean_absolute_error(y_test, model.fit(X[:, features], y).predict(X_test[:, features]))


def row_name(method: str, gamma: float) -> str:
    return method if method == "DFS" else f"{method}, gamma {gamma:g}"


def rows(
    load: Callable[[Path], Data],
    sizes: tuple[int, ...],
    data_file: str,
    quick: Mapping[str, int],
) -> list[Row]:
    return [
        Row(
            row_name(method, gamma),
            partial(measure, load=load, sizes=sizes, method=method, gamma=gamma),
            seeds=N_FOLDS,
            quick=quick.get(row_name(method, gamma), 0),
            data_file=data_file,
            is_ours=True,
        )
        for method, gamma in METHODS
    ]


def columns(sizes: tuple[int, ...]) -> list[Column]:
    return [Column(f"error with {size} features", str(size), 3, "lower") for size in sizes]


def published_table() -> str:
    """Return the paper's errors as a separate table, because the paper uses different data."""
    titles = [f"error with {size} features" for size in CT_SIZES]
    lines = [f"| paper, all rows | {' | '.join(titles)} |"]
    lines += ["| --- " * (1 + len(CT_SIZES)) + "|"]
    for name, values in PUBLISHED.items():
        lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |")
    return "\n".join(lines)


TABLE_9 = Table(
    name="sfs20_table_9",
    title="sfs20, Table 9: CT slices",
    about=f"""
The tables show the mean absolute error of a network (`"mlp"`) that uses only the highest-ranked
features. Errors are measured on {N_FOLDS} random folds (paper: 5). The target is the position of a
CT slice along the body axis.

{METHODS_TEXT}

Networks were trained for {EPOCHS} epochs (paper: 100), with the paper's mask penalty
({MASK_PENALTY:g}) and number of repetitions ({N_REPEATS}). Only the first 682 of
the paper's 53,500 slices were available. They are from only two patients, so the errors are small.
Differences below about 0.1 are not meaningful. The first table shows the paper's errors on all
slices. The second table shows the errors measured here, with one seed per fold.

{published_table()}
""",
    columns=columns(CT_SIZES),
    rows=rows(ct_slices, CT_SIZES, "ct_slices_first682.npz", {}),
    row_header="ranked by",
)

TABLE_10 = Table(
    name="sfs20_table_10",
    title="sfs20, Table 10 on other data: regression with known ground truth",
    about=f"""
The paper's second regression task predicts molecular energies. These data were not available, so
they are replaced by Friedman's first function, with 1,500 rows and 100 features. The target depends
on 5 of the features. The noise in the target has a standard deviation of 1, so the expected mean
absolute error of any model is at least 0.80.

The table shows the mean absolute error of a network (`"mlp"`) that uses only the highest-ranked
features, with one seed per fold. The column "relevant features among the top 5" gives the mean
number of relevant features among the five highest-ranked features. All settings are the same as for
the [CT slices](sfs20_table_9.md).

{METHODS_TEXT}
""",
    columns=[
        *columns(FRIEDMAN_SIZES),
        Column("relevant features among the top 5", "first", 1, "higher"),
    ],
    rows=rows(friedman, FRIEDMAN_SIZES, "", {"DFS": 1, "SFS, gamma 0": 1}),
    row_header="ranked by",
)
