"""How much an error in each class costs, as a multiple of C.

SVMs of any number of classes as libsvm builds them: one for each pair of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Rows, Vector
from ..exceptions import InputError, SolverError
from ..resampling import Labels

NAMED = ("balanced", "cw2", "cw3")


@dataclass(frozen=True)
class ClassWeight:
    """A rule, or weights that were given.

    Attributes
    ----------
    rule : {None, "balanced", "cw2", "cw3"}
        None: all classes weigh 1, or as ``given`` says. ``"balanced"``: as scikit-learn has it,
        rows over classes times rows of the class. ``"cw2"``: one over the rows of the class.
        ``"cw3"``: that and the number of classes, a weak preference of the rare ones.
    given : ndarray of shape (n_classes,) or None
    """

    rule: str | None
    given: Vector | None = None

    def of(self, present: NDArray[np.int64], counts: NDArray[np.int64]) -> Vector:
        """Weight of each class of the rows trained on.

        Parameters
        ----------
        present : ndarray of shape (k,)
            Codes of the classes that these rows have.
        counts : ndarray of shape (k,)
            How many rows each has.

        Examples
        --------
        >>> import numpy as np
        >>> classes, rows = np.array([0, 1]), np.array([10, 40])
        >>> ClassWeight("cw2").of(classes, rows).tolist()
        [0.1, 0.025]
        >>> ClassWeight("cw3").of(classes, rows).tolist()
        [2.1, 2.025]
        """
        if self.given is not None:
            return self.given[present]
        if self.rule == "balanced":
            return counts.sum() / (len(counts) * counts)
        if self.rule == "cw2":
            return 1.0 / counts
        if self.rule == "cw3":
            return 1.0 / counts + len(counts)
        return np.ones(len(counts))


def resolve_class_weight(setting: Any, classes: NDArray[Any]) -> ClassWeight:
    """The weights that a setting stands for.

    Parameters
    ----------
    setting : None, str or mapping of label to weight
        Labels that a mapping lacks weigh 1.
    classes : ndarray
        All labels, sorted.
    """
    if not isinstance(setting, Mapping):
        return ClassWeight(setting)
    labels = classes.tolist()
    unknown = [label for label in setting if label not in labels]
    if unknown:
        raise InputError(f"class_weight names {unknown[0]!r}, and the classes are {labels}.")
    weights = np.array([float(setting.get(label, 1.0)) for label in labels])
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("class_weight must give every class a finite weight above zero.")
    return ClassWeight(None, weights)


# As libsvm's own limit: far beyond what any sensible problem takes.
_MOST_MOVES = 10_000_000


@dataclass(frozen=True)
class PairwiseSVMs:
    """The two-class problems among some rows, end to end.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The rows trained on.
    pairs : ndarray of shape (n_pairs, 2)
        Codes of the classes of each problem; the first is on the positive side.
    starts : ndarray of shape (n_pairs + 1,)
        Where each problem begins among the members.
    members, side, weight : ndarray of shape (n_members,)
        Rows of the problems, +1 or -1, and the weight of their loss.
    tol : float
    """

    rows: Rows
    pairs: Rows
    starts: Rows
    members: Rows
    side: Vector
    weight: Vector
    tol: float

    def solve(
        self, kernel: Matrix, costs: Vector, start: Matrix | None = None
    ) -> tuple[Matrix, Matrix]:
        """Train at each cost.

        Parameters
        ----------
        kernel : ndarray of shape (n_samples, n_samples)
            Of all rows of the table; those trained on are picked from it.
        costs : ndarray of shape (n_costs,)
            Ascending.
        start : ndarray of shape (n_costs, n_members), default=None
            Coefficients of a similar problem at the same costs.

        Returns
        -------
        b : ndarray of shape (n_costs, n_members)
            Coefficient of each member, its sign that of its side.
        offsets : ndarray of shape (n_costs, n_pairs)

        Raises
        ------
        SolverError
            If a problem is not solved within ten million moves.
        """
        from ..native.svm import solve_pairs

        b = np.zeros((len(costs), len(self.members))) if start is None else start.copy()
        kernel, members, side, weight, starts, costs = _writable(
            kernel, self.members, self.side, self.weight, self.starts, costs
        )
        offsets, most = solve_pairs(
            kernel, members, side, weight, starts, costs, b, start is None, self.tol, _MOST_MOVES
        )
        if most >= _MOST_MOVES:
            raise SolverError(
                f"An SVM was not solved to tol={self.tol:g} within {_MOST_MOVES:,} moves. Scale "
                "the features (StandardScaler), or use a smaller C or a larger tol."
            )
        return b, offsets

    def decide(self, kernel: Matrix, b: Matrix, offsets: Matrix, rows: Rows) -> NDArray[np.float64]:
        """Decision values at some rows.

        Returns
        -------
        ndarray of shape (n_costs, n_pairs, n_rows)
            Positive for the first class of the pair.
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
    """What a worker was handed is read-only: a type of its own, to be compiled for once more."""
    return [array if array.flags.writeable else array.copy() for array in arrays]


def pairwise_svms(rows: Rows, codes: Rows, class_weight: ClassWeight, tol: float) -> PairwiseSVMs:
    """The problems of some rows: one for each pair of the classes that they have.

    Parameters
    ----------
    rows : ndarray
    codes : ndarray of shape (n_samples,)
        Class of each row of the table, 0, 1, 2 and so on.
    class_weight : ClassWeight
    tol : float
        How far from optimal a solution may be, as libsvm counts it.
    """
    present, counts = np.unique(codes[rows], return_counts=True)
    weight = class_weight.of(present, counts)
    pairs = list(combinations(range(len(present)), 2))
    positions = [np.flatnonzero(np.isin(codes[rows], present[list(pair)])) for pair in pairs]
    members = [rows[place] for place in positions]
    place_of = np.concatenate([np.searchsorted(present, codes[part]) for part in members])
    starts = np.r_[0, np.cumsum([len(part) for part in members])]
    first = np.repeat([pair[0] for pair in pairs], np.diff(starts))
    return PairwiseSVMs(
        rows=rows,
        pairs=present[np.array(pairs)].astype(np.int64),
        starts=starts.astype(np.int64),
        members=np.concatenate(members).astype(np.int64),
        side=np.where(place_of == first, 1.0, -1.0),
        weight=weight[place_of],
        tol=tol,
    )


def majority_vote(values: NDArray[np.float64], pairs: Rows, n_classes: int) -> Rows:
    """Class of each row by the votes of the pairs, as libsvm counts them.

    Parameters
    ----------
    values : ndarray of shape (..., n_pairs, n_rows)
    pairs : ndarray of shape (n_pairs, 2)
    n_classes : int

    Returns
    -------
    ndarray of shape (..., n_rows)
        Codes; of classes with equally many votes the first.
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
    """What to train, and the rows that it is judged by."""

    machines: PairwiseSVMs
    held_out: Rows


def folds_of(
    parts: Iterable[tuple[Rows, Rows]], labels: Labels, class_weight: ClassWeight, tol: float
) -> list[TrainedFold]:
    """What to train on each part, and where to judge it."""
    return [
        TrainedFold(pairwise_svms(train, labels.codes, class_weight, tol), test.astype(np.int64))
        for train, test in parts
    ]
