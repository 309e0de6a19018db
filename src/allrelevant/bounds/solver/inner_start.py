"""A model well inside a set whose loss is known by its cuts only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..programs.cut_rows import CutRows
from ..programs.equivalent_models import Budget, EquivalentModels, Start, budget_row
from .highs import HighsModel

# By how much of the loss that is allowed the model may have more loss than the best one.
_TOLERANCE = 0.01

# Cuts after which the search is given up.
_MOST_CUTS = 300


def with_inner_start(models: EquivalentModels) -> EquivalentModels:
    """The set, known better, with the model of least loss within its norm to start from.

    Answers outside the set are drawn towards the start, so it should lie well inside. Without one
    if no model has as little loss as the set allows.
    """
    limit = min(b.limit / b.loss_coefficient for b in models.budgets if b.loss_coefficient > 0)
    for _ in range(_MOST_CUTS):
        rows = models.rows
        assert isinstance(rows, CutRows)
        cost = budget_row(rows, Budget(0.0, 1.0, np.inf))
        # As much loss as it takes: whether it is too much is seen in the end.
        free = replace(
            models,
            budgets=tuple(b for b in models.budgets if b.norm_coefficient > 0),
            offset_range=np.array([[-np.inf, np.inf]]),
        )
        program = replace(free.program, cost=cost)
        solution = HighsModel(program).solve("the model of least loss under the limits")
        coef = (
            solution.point[program.blocks["positive"]] - solution.point[program.blocks["negative"]]
        )
        coef = np.clip(coef, *rows.weight_limits.T)  # exactly, whatever the solver's rounding
        loss, cut = rows.true_loss.loss_and_cut(coef)
        if loss - solution.value <= _TOLERANCE * limit:
            break
        models = replace(models, rows=rows.with_cuts([cut]))
    if loss > limit:
        return replace(models, start=None)
    start = Start(coef, np.array([loss]), solution.row_dual[: models.rows.n_rows], models.rows)
    return replace(models, start=start)
