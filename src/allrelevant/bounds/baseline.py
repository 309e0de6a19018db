"""Baseline (reference model): its training, and the models equivalent to it.

A formulation defines how the baseline is trained and which models are equivalent to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..deadline import NO_DEADLINE, Deadline
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling
from .models import LinearModel
from .programs.equivalent_models import (
    EquivalentModels,
    StartingVertex,
    joint_budget,
    separate_budgets,
)
from .solver.families import solvers_for
from .task import TaskData


@dataclass(frozen=True)
class Tolerance:
    """Slack by which equivalent models may exceed the norm and the loss of the baseline.

    Norm and loss have a relative slack. The loss also has an absolute slack, because a relative
    slack has no effect on a loss of zero.
    """

    norm_slack: float
    loss_slack: float
    loss_tol: float

    def norm_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.norm_slack) * baseline.norm_

    def loss_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.loss_slack) * baseline.loss_ + self.loss_tol


@dataclass(frozen=True)
class FittedBaseline:
    """Fitted baseline with its scaled training data.

    ``start`` is the LP solution that defines the model, ``varying`` has the indices of the features
    that are not constant, and ``scaling`` is the scaling of ``X``. ``score`` is the
    cross-validated score, or None without cross-validation. Messages refer to the subproblem by
    ``name``.
    """

    data: TaskData
    model: LinearModel
    start: StartingVertex | None
    formulation: Formulation
    varying: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    scaling: Scaling | None = None
    score: float | None = None
    name: str = ""

    @property
    def layout(self) -> WeightLayout:
        return self.data.layout


class Formulation(ABC):
    """Abstract definition of a baseline and of the models equivalent to it."""

    @abstractmethod
    def path(
        self,
        data: TaskData,
        grid: Iterable[float],
        gap: float = 0.0,
        deadline: Deadline = NO_DEADLINE,
    ) -> Iterator[FittedBaseline]:
        """Fit the baseline to scaled data for each C in a grid.

        ``gap`` is the relative duality gap that the baselines may have if there are many rows.
        After the deadline, :exc:`TimeLimitError` is raised.
        """

    @abstractmethod
    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        """Return the set of models whose norm and loss are within a tolerance of a baseline's."""

    def fit(
        self, data: TaskData, C: float, gap: float = 0.0, deadline: Deadline = NO_DEADLINE
    ) -> FittedBaseline:
        """Fit the baseline to scaled data."""
        return next(self.path(data, [C], gap, deadline))


class SeparateBudgets(Formulation):
    """Formulation with separate budgets for norm and loss and an l1-regularized baseline.

    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018.
    """

    def path(
        self,
        data: TaskData,
        grid: Iterable[float],
        gap: float = 0.0,
        deadline: Deadline = NO_DEADLINE,
    ) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_1 + C * loss`` for each C, with one solver for all values."""
        values = list(grid)
        solver = solvers_for(data.rows).baseline(gap, values, deadline)
        for C in values:
            deadline.check()
            start = solver.solve(C)
            model = data.model(start.coef, start.offset, C, start.rows)
            yield FittedBaseline(data, model, start, self)

    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        start, model = baseline.start, baseline.model
        rows = baseline.data.rows if start is None else start.rows
        norm, loss = tolerance.norm_limit(model), tolerance.loss_limit(model)
        return separate_budgets(rows, norm, loss, start)


class JointBudget(Formulation):
    """Formulation with one budget for norm plus C times loss; the baseline is an l2 SVM.

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear classification",
    ESANN 2017.
    """

    def path(
        self,
        data: TaskData,
        grid: Iterable[float],
        gap: float = 0.0,
        deadline: Deadline = NO_DEADLINE,
    ) -> Iterator[FittedBaseline]:
        """Minimize ``|w|_2^2 / 2 + C * loss`` for each C.

        The budget is computed from the fitted model, so the set of equivalent models is well
        defined even if libsvm stops before the exact optimum.
        """
        from sklearn.svm import SVC

        for C in grid:
            deadline.check()
            svm = SVC(kernel="linear", C=C, tol=1e-4, cache_size=500, max_iter=1_000_000)
            svm.fit(data.X, data.y, sample_weight=data.weight)
            coef = svm.coef_.toarray() if sp.issparse(svm.coef_) else svm.coef_
            yield FittedBaseline(data, data.model(coef.ravel(), svm.intercept_, C), None, self)

    def equivalent_models(self, baseline: FittedBaseline, tolerance: Tolerance) -> EquivalentModels:
        model, data = baseline.model, baseline.data
        limit = tolerance.norm_limit(model) + model.C_ * tolerance.loss_limit(model)
        # The l2 baseline is not a vertex of the set. The l1 baseline at the same C is.
        start = SEPARATE.fit(data, model.C_).start
        return joint_budget(data.rows, model.C_, limit, start)


SEPARATE, JOINT = SeparateBudgets(), JointBudget()

FORMULATIONS: dict[str, Formulation] = {"separate": SEPARATE, "joint": JOINT}
