"""An honest estimate: the whole selection inside outer folds, judged where it never looked.

The best of many cross-validated scores is too good: it was chosen for being the best. Here all of
the selection, its inner folds included, sees only the rows that an outer fold trains on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..exceptions import InputError
from .folds import Labels, split
from .plan import Part, Plan
from .trace import Trace, chosen_size


@dataclass(frozen=True)
class NestedEstimate:
    """What a selection is worth on rows that it never saw.

    Attributes
    ----------
    rule : "best", "one_se" or int
        How each outer fold chooses its subset.
    scores : ndarray of shape (n_outer_folds,)
        Score of the chosen subset on the rows held out.
    n_features : ndarray of shape (n_outer_folds,)
    support : ndarray of shape (n_outer_folds, n_features)
        The subset chosen in each outer fold.
    traces : list of Trace
        ``traces[k].steps[i].outer_score`` is the score of every subset on the rows held out.
    """

    rule: Any
    scores: Vector
    n_features: NDArray[np.int64]
    support: NDArray[np.bool_]
    traces: list[Trace]

    @property
    def score(self) -> float:
        """Mean over the outer folds."""
        return float(self.scores.mean())

    @classmethod
    def of(cls, traces: list[Trace], rule: Any) -> NestedEstimate:
        """Choose in each outer fold by a rule, from runs that are done."""
        sizes = [chosen_size(rule, trace.sizes, trace.fold_scores) for trace in traces]
        return cls(
            rule,
            np.array([_outer_score(trace, n) for trace, n in zip(traces, sizes, strict=True)]),
            np.array(sizes),
            np.array([trace.support(n) for trace, n in zip(traces, sizes, strict=True)]),
            traces,
        )


def _outer_score(trace: Trace, n_features: int) -> float:
    """Of the subset of this size, or of the next larger one that was come by."""
    fitting = [step for step in trace.steps if step.n_features >= n_features]
    score = fitting[-1].outer_score if fitting else None
    if score is None:
        raise InputError(f"No outer fold has a subset of {n_features} features to judge.")
    return score


def outer_parts(plan: Plan, nested: Any) -> Iterator[Part]:
    """The parts of an honest estimate, each with inner folds of its own.

    Parameters
    ----------
    plan : Plan
    nested : True, int, or splitter
        True takes the inner ``cv`` for the outer folds, too.
    """
    outer = plan.cv if nested is True else nested
    inner_is_fixed = plan.cv is not None and _is_fixed(plan.cv)
    if outer is None:
        raise InputError("nested=True needs cv; with cv=None give nested a number of folds.")
    if inner_is_fixed:
        raise InputError(
            "nested needs inner folds that can be made of any rows: give cv as a number or a "
            "splitter, not as a list of folds."
        )
    rows = np.arange(len(plan.labels.codes))
    for number, (train, test) in enumerate(split(outer, plan.labels, rows, name="nested")):
        series = f"outer fold {number}"
        yield plan.part(train, test, series, f"cv within {series}")


def _is_fixed(cv: Any) -> bool:
    return not isinstance(cv, int | np.integer) and not hasattr(cv, "split")


def fold_rows(parts: list[Part]) -> list[Any]:
    """All rows of all folds, for a fingerprint."""
    pieces: list[Any] = []
    for part in parts:
        pieces += [part.rows, part.held_out]
        for train, test in part.folds or []:
            pieces += [train, test]
    return pieces


__all__ = ["Labels", "NestedEstimate", "fold_rows", "outer_parts"]
