"""SVMs over a kernel, for any number of classes: as in libsvm, one for each pair of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._params import ClassWeightName
from .._typing import Matrix, Rows, Vector
from ..exceptions import InputError, SolverError

# Weights of the classes that some rows have, from their codes and their numbers of rows.
ClassWeight = Callable[[Rows, Rows], Vector]

# Rules for weights, from the number of rows of each class.
CLASS_WEIGHTS: dict[ClassWeightName, Callable[[Rows], Vector]] = {
    "balanced": lambda counts: counts.sum() / (len(counts) * counts),
    "cw2": lambda counts: 1.0 / counts,
    "cw3": lambda counts: 1.0 / counts + len(counts),
}

# As libsvm's own limit: far beyond what any sensible problem takes.
MAX_MOVES = 10_000_000


@dataclass(frozen=True)
class PairwiseSVMs:
    """The two-class problems among some rows, end to end.

    Each problem has one of the ``pairs`` of classes, by their codes, the first on the positive
    side, and ``starts`` says where it begins among the ``members``, which are rows. Each member has
    a ``side``, +1 or -1, and the ``weight`` of its loss. ``tol`` is how far from optimal a solution
    may be, as libsvm counts it.
    """

    pairs: Rows
    starts: Rows
    members: Rows
    side: Vector
    weight: Vector
    tol: float

    def solve(
        self, kernel: Matrix, costs: Vector, start: Matrix | None = None
    ) -> tuple[Matrix, Matrix]:
        """Train at each cost, ascending, on the kernel of all rows of the table.

        Returns the coefficients, of shape (n_costs, n_members) and with the sign of each member's
        side, and the offsets, of shape (n_costs, n_pairs). It may start from the coefficients of a
        similar problem at the same costs.
        """
        from ..native.svm import solve_pairs

        b = np.zeros((len(costs), len(self.members))) if start is None else start.copy()
        kernel, members, side, weight, starts, costs = _writable(
            kernel, self.members, self.side, self.weight, self.starts, costs
        )
        offsets, n_moves = solve_pairs(
            kernel, members, side, weight, starts, costs, b, start is None, self.tol, MAX_MOVES
        )
        if n_moves >= MAX_MOVES:
            raise SolverError(
                f"An SVM was not solved to tol={self.tol:g} within {MAX_MOVES:,} moves. Scale "
                "the features (StandardScaler), or use a smaller C or a larger tol."
            )
        return b, offsets

    def decide(self, kernel: Matrix, b: Matrix, offsets: Matrix, rows: Rows) -> NDArray[np.float64]:
        """Decision values at some rows, of shape (n_costs, n_pairs, n_rows).

        They are positive for the first class of the pair.
        """
        from ..native.svm import decide_pairs

        return decide_pairs(*_writable(kernel, self.members, self.starts, b, offsets, rows))

    def by_row(self, b: Vector, n_samples: int) -> Matrix:
        """Coefficients of one cost as a table of rows and pairs; most may be zero."""
        table = np.zeros((n_samples, len(self.pairs)))
        problem = np.repeat(np.arange(len(self.pairs)), np.diff(self.starts))
        table[self.members, problem] = b
        return table


def _writable(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Copies of the arrays that are read-only, as in a worker: else numba compiles once more."""
    return [array if array.flags.writeable else array.copy() for array in arrays]


def pairwise_svms(rows: Rows, codes: Rows, class_weight: ClassWeight, tol: float) -> PairwiseSVMs:
    """The problems of some rows: one for each pair of the classes that they have.

    ``codes`` holds the class of each row of the table, 0, 1, 2 and so on.
    """
    present, counts = np.unique(codes[rows], return_counts=True)
    weight = class_weight(present, counts)
    pairs = list(combinations(range(len(present)), 2))
    members = [rows[np.isin(codes[rows], present[list(pair)])] for pair in pairs]
    place_of = np.concatenate([np.searchsorted(present, codes[problem]) for problem in members])
    starts = np.r_[0, np.cumsum([len(problem) for problem in members])]
    first = np.repeat([pair[0] for pair in pairs], np.diff(starts))
    return PairwiseSVMs(
        pairs=present[np.array(pairs)].astype(np.int64),
        starts=starts.astype(np.int64),
        members=np.concatenate(members).astype(np.int64),
        side=np.where(place_of == first, 1.0, -1.0),
        weight=weight[place_of],
        tol=tol,
    )


def resolve_class_weight(setting: Any, classes: NDArray[Any]) -> ClassWeight:
    """The weights that a setting stands for; labels that a mapping lacks weigh 1."""
    if setting is None:
        return lambda present, counts: np.ones(len(counts))
    if not isinstance(setting, Mapping):
        return lambda present, counts: CLASS_WEIGHTS[setting](counts)
    labels = classes.tolist()
    unknown = [label for label in setting if label not in labels]
    if unknown:
        raise InputError(f"class_weight names {unknown[0]!r}, and the classes are {labels}.")
    weights = np.array([float(setting.get(label, 1.0)) for label in labels])
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("class_weight must give every class a finite weight above zero.")
    return lambda present, counts: weights[present]


def majority_vote(values: NDArray[np.float64], pairs: Rows, n_classes: int) -> Rows:
    """Class of each row by the votes of the pairs, as libsvm counts them.

    ``values`` has the shape (..., n_pairs, n_rows), the codes have (..., n_rows). Of classes with
    equally many votes the first is taken.
    """
    if len(pairs) == 1:
        return np.where(values[..., 0, :] > 0, pairs[0, 0], pairs[0, 1])
    votes = np.zeros((*values.shape[:-2], n_classes, values.shape[-1]))
    for place, (first, second) in enumerate(pairs):
        wins = values[..., place, :] > 0
        votes[..., first, :] += wins
        votes[..., second, :] += ~wins
    return votes.argmax(axis=-2)


@dataclass(frozen=True)
class TrainedFold:
    """The SVMs to train on a fold, and the rows that it holds out."""

    svms: PairwiseSVMs
    held_out: Rows
