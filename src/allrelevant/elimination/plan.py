"""A selection as a value: data and settings, from which any part of the rows can be run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..arrays import Table, Vector
from ..exceptions import InputError
from ..parallel.progress import progress_bar
from .class_weights import ClassWeight
from .columns import columns_of
from .criteria import CRITERIA
from .engine import Elimination, Judges
from .evaluation import Evaluator
from .folds import Fold, Labels, folds_of, split
from .kernels import Kernel
from .machines import Rows, machines_of
from .pace import Pace
from .pruning import pruned_features, variances
from .recording import Recording
from .scoring import Score, require_usable
from .survivors import Survivors
from .trace import Trace


@dataclass(frozen=True)
class Machinery:
    """How subsets are trained and judged.

    Attributes
    ----------
    kernel : Kernel
    costs : ndarray of shape (n_costs,)
        Ascending.
    class_weight : ClassWeight
    tol : float
    score : Score
    n_jobs : int or None
    """

    kernel: Kernel
    costs: Vector
    class_weight: ClassWeight
    tol: float
    score: Score
    n_jobs: int | None = None

    def evaluator(self, parts: list[tuple[Rows, Rows]], labels: Labels) -> Evaluator:
        """Cross-validation over some parts; a score that cannot work there is refused."""
        folds = folds_of(parts, labels, self.class_weight, self.tol)
        require_usable(self.score, folds[0])
        return Evaluator(self.kernel, folds, self.costs, self.score, self.n_jobs)


@dataclass(frozen=True)
class Part:
    """Rows to select on, their folds, and rows held out of all of it."""

    rows: Rows
    held_out: Rows
    folds: list[tuple[Rows, Rows]] | None
    series: str


@dataclass(frozen=True)
class Plan:
    """A whole elimination, ready to run.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    labels : Labels
    machinery : Machinery
    criterion : str
    pace : Pace
    min_variance : float
    cv : object or None
    """

    X: Table
    labels: Labels
    machinery: Machinery
    criterion: str
    pace: Pace
    min_variance: float
    cv: Any

    def whole(self) -> Part:
        """All rows."""
        rows = np.arange(len(self.labels.codes))
        return self.part(rows, rows[:0], "all rows", "cv")

    def part(self, rows: Rows, held_out: Rows, series: str, name: str) -> Part:
        """Some of the rows, and their folds; what cannot be split is refused."""
        folds = None if self.cv is None else split(self.cv, self.labels, rows, name=name)
        return Part(rows, held_out, folds, series)

    def pruned(self, rows: Rows) -> list[int]:
        """Features that vary too little on some rows; at least as many as asked for are left."""
        pruned = pruned_features(variances(self.X[rows]), self.min_variance)
        n_left = self.X.shape[1] - len(pruned)
        if n_left == 0 and self.min_variance == 0:
            raise InputError("Every column is constant: there is no feature to tell rows apart.")
        if n_left < max(2, self.pace.min_features):
            raise InputError(
                f"{n_left} feature(s) vary more than min_variance={self.min_variance:g}, and at "
                f"least {max(2, self.pace.min_features)} are needed: use a smaller one."
            )
        return pruned

    def require_usable(self, part: Part) -> None:
        """Refuse what would fail later, before the long work starts."""
        self.pruned(part.rows)
        judges = self._judges(part)
        if judges.outer is not None:
            require_usable(judges.outer, judges.whole)

    def run(self, part: Part, recording: Recording, title: str | None) -> Trace:
        """Eliminate on some rows.

        Parameters
        ----------
        part : Part
        recording : Recording
        title : str or None
            Of a progress bar; None shows none.
        """
        pruned = self.pruned(part.rows)
        n_start = self.X.shape[1] - len(pruned)
        done = max(0, len(recording.steps()) - 1)
        # On one thread, as workers are: how a sum is split shows in its last digits.
        with (
            threadpool_limits(1),
            progress_bar(title, self.pace.n_steps(n_start), done=done) as advance,
        ):
            steps = self._elimination(part, pruned).run(recording, advance)
        return Trace(int(self.X.shape[1]), pruned, steps)

    def _elimination(self, part: Part, pruned: list[int]) -> Elimination:
        kept = np.setdiff1d(np.arange(self.X.shape[1]), pruned)
        kernel = self.machinery.kernel
        columns = columns_of(self.X[:, kept], centred=kernel.shift_invariant)
        return Elimination(
            Survivors(columns, kept, kernel),
            self._judges(part),
            CRITERIA[self.criterion],
            self.pace,
            float(self.machinery.costs[0]),
        )

    def _judges(self, part: Part) -> Judges:
        machinery, labels = self.machinery, self.labels
        return Judges(
            Fold(
                machines_of(part.rows, labels.codes, machinery.class_weight, machinery.tol),
                part.held_out,
            ),
            machinery.score if len(part.held_out) else None,
            None if part.folds is None else machinery.evaluator(part.folds, labels),
        )
