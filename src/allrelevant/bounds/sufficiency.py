"""Test of whether some equivalent model uses only relevant features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import count_noun, join_names
from ..deadline import NO_DEADLINE, Deadline
from ..relevance import RELEVANT
from .cross_validation import cross_validated_score
from .design import DesignRequest, Scoring, SearchSpace, find_cheapest_sets
from .result import BoundsResult, SubproblemBounds
from .solver.mixed_integer import TotalWeight

# Total weights up to this fraction of the norm count as zero.
ZERO_TOL = 1e-8


@dataclass(frozen=True)
class Sufficiency:
    """Result of a test of whether some equivalent model uses relevant features only.

    An equivalent model fits the training rows nearly as closely as the baseline, including their
    noise. If the relevant features do not suffice, compare the scores: if they are similar, the
    missing features may only fit noise. Privileged features may always be used, because predictions
    do not need them.

    Attributes
    ----------
    suffices : bool
        Whether some equivalent model uses relevant features only. With more than two classes, this
        holds for the models of every class.
    relevant : list of str
        Names of the relevant features, which ``transform`` keeps.
    missing : list of str
        Fewest further features with which the relevant features suffice. Other sets of the same
        size may exist. Empty if ``suffices`` is True.
    proven : bool
        Whether the number of missing features is proven to be minimal. False if the search reached
        its time limit.
    score, score_error : float
        Cross-validated score of a baseline with the relevant features only, and its standard error.
        If no feature is relevant, the score of a model without features. The score is optimistic,
        because all rows were used to find the relevant features.
    score_all, score_all_error : float
        Cross-validated score of a baseline with all features, on the same folds, and its standard
        error.
    score_name : str
        Description of the score, such as ``"accuracy"``.
    n_features : int
        Number of all features.
    """

    suffices: bool
    relevant: list[str]
    missing: list[str]
    proven: bool
    score: float
    score_error: float
    score_all: float
    score_all_error: float
    score_name: str
    n_features: int

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON-compatible values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self._finding()} {self._comparison()}"

    def _finding(self) -> str:
        if not self.relevant:
            if self.suffices:
                return (
                    "No feature is relevant, and a model without features is equivalent to the "
                    "baseline."
                )
            return (
                f"No feature is relevant, but every equivalent model uses features. {self._need()}"
            )
        several = len(self.relevant) > 1
        subject = (
            f"The {len(self.relevant)} relevant features"
            if several
            else "The only relevant feature"
        )
        if self.suffices:
            return f"{subject} {'suffice' if several else 'suffices'} for an equivalent model."
        negation = "do not" if several else "does not"
        return f"{subject} {negation} suffice for an equivalent model. {self._need()}"

    def _need(self) -> str:
        """Return a sentence on the features that are needed in addition to the relevant ones."""
        further = "further " if self.relevant else ""
        number = count_noun(len(self.missing), f"{further}feature", f"{further}features")
        verb = "is" if len(self.missing) == 1 else "are"
        if self.proven:
            return f"At least {number} {verb} needed, for example {join_names(self.missing)}."
        return (
            f"{number} {verb} enough ({join_names(self.missing)}). Fewer may be enough, because "
            "the search reached its time limit."
        )

    def _comparison(self) -> str:
        kinds = {0: "without features", 1: "with this feature"}
        restricted = kinds.get(len(self.relevant), "with these features")
        return (
            f"Cross-validated {self.score_name}: {self.score:.3f} ± {self.score_error:.3f} "
            f"{restricted}, {self.score_all:.3f} ± {self.score_all_error:.3f} with all "
            f"{self.n_features}."
        )


def check_sufficiency(
    result: BoundsResult,
    scoring: Scoring,
    score_name: str,
    max_seconds: float | None,
    deadline: Deadline = NO_DEADLINE,
) -> Sufficiency:
    """Test whether the relevant features suffice; if not, find the fewest features to add.

    ``max_seconds`` is the time limit of the search. After ``deadline``, :exc:`TimeLimitError` is
    raised.
    """
    features = result.features
    is_relevant = np.isin(features.relevance, RELEVANT)
    relevant = np.flatnonzero(is_relevant)
    missing, proven = relevant[:0], True
    if not has_models(result.subproblems, np.flatnonzero(~is_relevant), deadline):
        missing, proven = find_missing(result.subproblems, is_relevant, max_seconds, deadline)
    baselines = [bounds.baseline for bounds in result.subproblems]
    everything = np.arange(len(features.names))
    scores = [
        cross_validated_score(baselines, columns, scoring.fit_scaling, scoring.tuning, deadline)
        for columns in (relevant, everything)
    ]
    return Sufficiency(
        suffices=len(missing) == 0,
        relevant=[features.names[j] for j in relevant],
        missing=[features.names[j] for j in missing],
        proven=proven,
        score=scores[0][0],
        score_error=scores[0][1],
        score_all=scores[1][0],
        score_all_error=scores[1][1],
        score_name=score_name,
        n_features=len(features.names),
    )


def has_models(
    subproblems: Sequence[SubproblemBounds],
    unused: NDArray[np.intp],
    deadline: Deadline = NO_DEADLINE,
) -> bool:
    """Return whether each subproblem has an equivalent model without the given features."""
    return all(_has_model(bounds, unused, deadline) for bounds in subproblems)


def _has_model(bounds: SubproblemBounds, unused: NDArray[np.intp], deadline: Deadline) -> bool:
    """Return whether one subproblem has an equivalent model without the given features.

    A known witness may prove it. Otherwise, an LP minimizes the total weight of these features.
    """
    known, weights = bounds.solved.models, bounds.baseline.layout.weights_of(unused)
    if len(weights) == 0 or not np.all(np.diff(known.coef[:, weights].indptr)):
        return True
    total = TotalWeight(bounds.models, known, bounds.weight_bounds, deadline)
    return total.smallest(weights) <= ZERO_TOL * max(1.0, bounds.baseline.model.norm_)


def find_missing(
    subproblems: Sequence[SubproblemBounds],
    is_relevant: NDArray[np.bool_],
    max_seconds: float | None,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[NDArray[np.intp], bool]:
    """Return a smallest set of features to add, and whether its size is proven minimal."""
    relevant = np.flatnonzero(is_relevant)
    request = DesignRequest(
        costs=np.where(is_relevant, 0.0, 1.0),
        must_use=relevant,
        must_not_use=relevant[:0],
        n_solutions=1,
        max_seconds=max_seconds,
    )
    spaces = [SearchSpace.from_bounds(bounds) for bounds in subproblems]
    (cheapest,), _ = find_cheapest_sets(spaces, request, deadline)
    return np.setdiff1d(cheapest.members, relevant), cheapest.proven
