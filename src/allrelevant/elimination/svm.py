"""SVMs with a precomputed kernel matrix, trained one-vs-one for several classes as in libsvm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._params import ClassWeightName
from .._typing import Matrix, Rows, Vector
from .._validation import check_class_weights
from ..exceptions import SolverError

if TYPE_CHECKING:
    from ..native.svm import SVMProblems

# Function that computes class weights from the class codes and the number of rows of each class.
ClassWeight = Callable[[Rows, Rows], Vector]

# Rules for class weights, given the number of rows of each class.
CLASS_WEIGHTS: dict[ClassWeightName, Callable[[Rows], Vector]] = {
    "balanced": lambda counts: counts.sum() / (len(counts) * counts),
    "cw2": lambda counts: 1.0 / counts,
    "cw3": lambda counts: 1.0 / counts + len(counts),
}

# Limit of solver iterations, as in libsvm; well-scaled problems need far fewer.
MAX_ITERATIONS = 10_000_000


@dataclass(frozen=True)
class PairwiseSVMs:
    """Binary SVM problems for all pairs of classes, stored one after another.

    ``pairs`` contains the class codes of each problem; the first class is the positive one.
    ``members`` contains the rows of all problems, and ``starts`` the offset of each problem. Each
    member has a ``side``, +1 or -1, and a ``weight``, which multiplies its loss. ``tol`` is the
    stopping tolerance, defined as in libsvm.
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
        """Train the SVMs for each C in ``costs``, given the kernel matrix of all rows.

        The costs are in ascending order. Return the coefficients of shape (n_costs, n_members),
        with the sign of each member's side, and the offsets of shape (n_costs, n_pairs). ``start``
        contains the coefficients of a similar problem at the same costs, for a warm start.
        """
        b = np.zeros((len(costs), len(self.members))) if start is None else start.copy()
        offsets, n_iterations = self._problems.solve(
            kernel,
            costs,
            b,
            chain_costs=start is None,
            tol=self.tol,
            max_iterations=MAX_ITERATIONS,
        )
        if n_iterations >= MAX_ITERATIONS:
            raise SolverError(
                f"An SVM did not converge to tol={self.tol:g} within {MAX_ITERATIONS:,} "
                "iterations. Scale the features (StandardScaler), or use a smaller C or a larger "
                "tol."
            )
        return b, offsets

    def decide(self, kernel: Matrix, b: Matrix, offsets: Matrix, rows: Rows) -> NDArray[np.float64]:
        """Return the decision values of the given rows; shape (n_costs, n_pairs, n_rows).

        Values are positive for the first class of a pair.
        """
        return self._problems.decide(kernel, b, offsets, rows)

    @cached_property
    def _problems(self) -> SVMProblems:
        from ..native.svm import SVMProblems

        return SVMProblems(self.members, self.starts, self.side, self.weight)

    def by_row(self, b: Vector, n_samples: int) -> Matrix:
        """Return the coefficients as a matrix of shape (n_samples, n_pairs).

        ``b`` contains the coefficients for one C. Unused samples have zero coefficients.
        """
        table = np.zeros((n_samples, len(self.pairs)))
        problem = np.repeat(np.arange(len(self.pairs)), np.diff(self.starts))
        table[self.members, problem] = b
        return table


def pairwise_svms(
    rows: Rows,
    codes: Rows,
    class_weight: ClassWeight,
    tol: float,
    row_weight: Vector | None = None,
) -> PairwiseSVMs:
    """Return the binary SVM problems for the given rows, one per pair of classes present.

    ``codes`` contains the class of each row of the table as 0, 1, 2, .... A row with
    ``row_weight`` 2 counts like two rows; rows with weight 0 are left out.
    """
    if row_weight is not None:
        rows = rows[row_weight[rows] > 0]
    present, counts = np.unique(codes[rows], return_counts=True)
    if row_weight is not None:
        counts = np.bincount(codes[rows], weights=row_weight[rows])[present]
    weight = class_weight(present, counts)
    pairs = list(combinations(range(len(present)), 2))
    members = [rows[np.isin(codes[rows], present[list(pair)])] for pair in pairs]
    class_index = np.concatenate([np.searchsorted(present, codes[problem]) for problem in members])
    starts = np.r_[0, np.cumsum([len(problem) for problem in members])]
    first = np.repeat([pair[0] for pair in pairs], np.diff(starts))
    all_members = np.concatenate(members).astype(np.int64)
    member_weight = weight[class_index]
    return PairwiseSVMs(
        pairs=present[np.array(pairs)].astype(np.int64),
        starts=starts.astype(np.int64),
        members=all_members,
        side=np.where(class_index == first, 1.0, -1.0),
        weight=member_weight if row_weight is None else member_weight * row_weight[all_members],
        tol=tol,
    )


def resolve_class_weight(setting: Any, classes: NDArray[Any]) -> ClassWeight:
    """Convert the parameter ``class_weight`` to a function that returns class weights.

    Classes that are missing from a dict have weight 1.
    """
    if setting is None:
        return lambda present, counts: np.ones(len(counts))
    if not isinstance(setting, Mapping):
        return lambda present, counts: CLASS_WEIGHTS[setting](counts)
    weights = check_class_weights(setting, classes)
    return lambda present, counts: weights[present]


def majority_vote(values: NDArray[np.float64], pairs: Rows, n_classes: int) -> Rows:
    """Return the predicted class code of each row, by majority vote over all pairs of classes.

    ``values`` has shape (..., n_pairs, n_rows), and the result has shape (..., n_rows). As in
    libsvm, ties go to the first class.
    """
    if len(pairs) == 1:
        return np.where(values[..., 0, :] > 0, pairs[0, 0], pairs[0, 1])
    votes = np.zeros((*values.shape[:-2], n_classes, values.shape[-1]))
    for index, (first, second) in enumerate(pairs):
        wins = values[..., index, :] > 0
        votes[..., first, :] += wins
        votes[..., second, :] += ~wins
    return votes.argmax(axis=-2)


@dataclass(frozen=True)
class TrainedFold:
    """Binary SVM problems for the training rows of a fold, and indices of its held-out rows."""

    svms: PairwiseSVMs
    held_out: Rows
