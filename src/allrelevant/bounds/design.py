"""The cheapest equally good models: which features to acquire."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import display, import_extra
from .._typing import Vector
from ..exceptions import InputError
from .baseline import FitScaling, HeldOutScore, cross_validated_score
from .models import LinearModel, LinearModels
from .result import SubproblemBounds
from .solver.cheapest import CheapestSearch, FeatureSet

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import CostDisplay


@dataclass(frozen=True)
class CheapestModel:
    """An equally good model, and what its features cost.

    Attributes
    ----------
    features : list of str
        That it uses, in the order of the table.
    members : ndarray of int
        Their places in the table.
    cost : float
    proven : bool
        Whether no set of features that came later in the search can cost less.
    gap : float
        By how much one could, at most: zero if it is proven.
    model : LinearModel or LinearModels
        A model of the set of equally good ones, checked against the data. Of those with these
        features the one with the least norm and loss.
    score, score_error : float
        Cross-validated score of a baseline with these features only, and its standard error.
    predictor : estimator
        The estimator with this model in the baseline's place: its ``predict`` is the model's.
    """

    features: list[str]
    members: NDArray[np.intp]
    cost: float
    proven: bool
    gap: float
    model: LinearModel | LinearModels
    score: float
    score_error: float
    predictor: Any = field(repr=False)


@dataclass(frozen=True)
class CheapestModels(Sequence[CheapestModel]):
    """The cheapest equally good models, in order of their costs.

    A sequence of :class:`CheapestModel`.

    Attributes
    ----------
    feature_names : list of str
    costs : ndarray of shape (n_features,)
    solutions : list of CheapestModel
        No set of features holds another one before it: what it would add is not needed.
    baseline_used : ndarray of shape (n_features,)
        Whether the baseline uses each feature.
    baseline_score, baseline_score_error : float
        Cross-validated score of the baseline with all features, on the same folds.
    complete : bool
        Whether there is no further set.
    """

    feature_names: list[str]
    costs: Vector
    solutions: list[CheapestModel]
    baseline_used: NDArray[np.bool_]
    baseline_score: float
    baseline_score_error: float
    complete: bool

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: Any) -> Any:
        return self.solutions[index]

    def __iter__(self) -> Iterator[CheapestModel]:
        return iter(self.solutions)

    @property
    def baseline_cost(self) -> float:
        """What the features cost that the baseline uses."""
        return float(self.costs[self.baseline_used].sum())

    def core(self) -> list[str]:
        """Features that are in all sets found, in the order of the table."""
        common = set.intersection(*(set(s.members.tolist()) for s in self.solutions))
        return [self.feature_names[j] for j in sorted(common)]

    def alternatives(self, feature: int | str) -> list[CheapestModel]:
        """The models found that live without a feature, the cheapest first.

        Parameters
        ----------
        feature : int or str
            Its place in the table, or its name.
        """
        index = self._place(feature)
        return [solution for solution in self.solutions if index not in solution.members]

    def _place(self, feature: int | str) -> int:
        if isinstance(feature, str):
            if feature not in self.feature_names:
                raise InputError(f"No feature is called {feature!r}.")
            return self.feature_names.index(feature)
        if not 0 <= feature < len(self.feature_names):
            raise InputError(f"There is no feature {feature}: {len(self.feature_names)} there are.")
        return int(feature)

    def to_frame(self) -> pd.DataFrame:
        """One row a model, the cheapest first.

        Returns
        -------
        pandas.DataFrame
            ``cost``, ``n_features``, ``features``, ``proven``, ``gap``, ``score`` and
            ``score_error``.
        """
        pandas = import_extra("pandas", "cli")
        names = ("cost", "features", "proven", "gap", "score", "score_error")
        frame = pandas.DataFrame(
            [[getattr(solution, name) for name in names] for solution in self.solutions],
            columns=list(names),
        )
        frame.insert(1, "n_features", [len(solution.members) for solution in self.solutions])
        return frame.rename_axis("rank")

    def to_dict(self) -> dict[str, Any]:
        """The models as values that JSON can hold.

        Returns
        -------
        dict
            ``models`` in order of their cost, ``core``, ``complete``, the ``costs`` of all features
            and, of the ``baseline``, number of features, cost and score.
        """
        names = ("features", "cost", "proven", "gap", "score", "score_error")
        return {
            "models": [{name: getattr(model, name) for name in names} for model in self.solutions],
            "core": self.core(),
            "complete": self.complete,
            "costs": dict(zip(self.feature_names, self.costs.tolist(), strict=True)),
            "baseline": {
                "n_features": int(self.baseline_used.sum()),
                "cost": self.baseline_cost,
                "score": self.baseline_score,
                "score_error": self.baseline_score_error,
            },
        }

    def plot(self, **kwargs: Any) -> CostDisplay:
        """Draw cost against number of features; see :meth:`CostDisplay.from_result`."""
        return display("CostDisplay").from_result(self, **kwargs)


@dataclass(frozen=True)
class DesignRequest:
    """What a user wants to know.

    Attributes
    ----------
    costs : ndarray of shape (n_features,)
    must_use, must_not_use : ndarray of int
    n_solutions : int
    max_seconds : float or None
    """

    costs: Vector
    must_use: NDArray[np.intp]
    must_not_use: NDArray[np.intp]
    n_solutions: int
    max_seconds: float | None


def read_costs(costs: Any, names: Sequence[str]) -> Vector:
    """The cost of each feature.

    Parameters
    ----------
    costs : None, mapping or array-like of shape (n_features,)
        None: each costs 1. A mapping gives the cost of every feature by its name.
    names : sequence of str

    Examples
    --------
    >>> read_costs({"age": 1, "biopsy": 50}, ["biopsy", "age"])
    array([50.,  1.])
    """
    if costs is None:
        return np.ones(len(names))
    if isinstance(costs, Mapping):
        by_name = {str(name): cost for name, cost in costs.items()}
        unknown = [name for name in by_name if name not in set(names)]
        missing = [name for name in names if name not in by_name]
        if unknown or missing:
            problem = f"no feature {unknown[0]!r}" if unknown else f"no cost of {missing[0]!r}"
            raise InputError(f"The costs do not fit the table: there is {problem}.")
        costs = [by_name[name] for name in names]
    try:
        values = np.asarray(costs, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"Costs must be numbers, got {costs!r}.") from error
    if values.shape != (len(names),):
        raise InputError(f"There are {len(names)} features, but costs of shape {values.shape}.")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("Costs must be finite numbers, none negative.")
    return values


def find_cheapest(
    problems: Sequence[SubproblemBounds], wanted: DesignRequest
) -> tuple[list[FeatureSet], bool]:
    """The cheapest sets of features, and whether there are no others.

    Parameters
    ----------
    problems : sequence of SubproblemBounds
    wanted : Wanted
    """
    n = len(wanted.costs)
    fixed = np.tile([0.0, 1.0], (n, 1))
    # What every equally good model of some problem needs, there is no choice about.
    needed = np.any([problem.interval[:n, 0] > 0 for problem in problems], axis=0)
    fixed[np.flatnonzero(needed)] = 1.0
    fixed[wanted.must_use], fixed[wanted.must_not_use] = 1.0, 0.0
    cheapest = CheapestSearch(
        [problem.models for problem in problems],
        [problem.ranges for problem in problems],
        [problem.signed_interval for problem in problems],
        wanted.costs,
        fixed,
        [problem.baseline.C_ for problem in problems],
    )
    deadline = None if wanted.max_seconds is None else time.time() + wanted.max_seconds
    sets = list(islice(cheapest.search(deadline), wanted.n_solutions))
    if not sets:
        raise InputError(
            "No equally good model does without all of must_not_use: allow some of these features."
        )
    return sets, len(sets) < wanted.n_solutions and not cheapest.timed_out


def scores_of(
    problems: Sequence[SubproblemBounds],
    sets: Sequence[NDArray[np.intp]],
    scale: FitScaling,
    seed: int,
) -> list[HeldOutScore]:
    """Cross-validated scores of sets of features, all on the same folds."""
    standards = [problem.standard for problem in problems]
    return [cross_validated_score(standards, members, scale, seed) for members in sets]
