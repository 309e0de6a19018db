"""The cheapest equally good models: which features to acquire."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._optional import display, import_extra
from .._typing import Vector
from ..exceptions import InputError
from ..terms.layout import WeightLayout
from .baseline import cross_validated_score
from .models import LinearModel, LinearModels
from .result import BoundsResult, SubproblemBounds
from .solver.cheapest import CheapestSearch, FeatureSet
from .solver.ranges import LOWER
from .task import FitScaling

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
        layout = WeightLayout(len(self.feature_names), names=tuple(self.feature_names))
        index = layout.index(feature)
        return [solution for solution in self.solutions if index not in solution.members]

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
    """What a user wants to know: see :meth:`RelevanceBounds.cheapest`."""

    costs: Vector
    must_use: NDArray[np.intp]
    must_not_use: NDArray[np.intp]
    n_solutions: int
    max_seconds: float | None

    @classmethod
    def parse(
        cls,
        layout: WeightLayout,
        costs: Any,
        must_use: Sequence[int | str],
        must_not_use: Sequence[int | str],
        n_solutions: int,
        max_seconds: float | None,
    ) -> Self:
        """What a user has written, checked."""
        if not (isinstance(n_solutions, Integral) and n_solutions >= 1):
            raise InputError(f"n_solutions must be a whole number from 1 on, got {n_solutions!r}.")
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds must be above 0, or None, got {max_seconds!r}.")
        used, unused = (
            np.array([_place(layout, feature) for feature in features], dtype=np.intp)
            for features in (must_use, must_not_use)
        )
        both = np.intersect1d(used, unused)
        if len(both):
            name = layout.names[both[0]]
            raise InputError(f"{name!r} is in must_use and in must_not_use.")
        values = read_costs(costs, layout.table_names(0))
        return cls(values, used, unused, int(n_solutions), max_seconds)


def _place(layout: WeightLayout, feature: int | str) -> int:
    index = layout.index(feature)
    if layout.is_privileged(index):
        raise InputError(f"{feature!r} is a privileged feature, which no prediction needs.")
    return index


def read_costs(costs: Any, names: Sequence[str]) -> Vector:
    """The cost of each feature: by name or in the order of the table; None: each costs 1."""
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


def find_cheapest_models(
    result: BoundsResult,
    request: DesignRequest,
    fit_scaling: FitScaling,
    seed: int,
    make_predictor: Callable[[BoundsResult], Any],
) -> CheapestModels:
    """The cheapest models, each with its cross-validated score on the same folds.

    ``make_predictor`` makes an estimator of a result.
    """
    sets, complete = find_cheapest_sets(result.subproblems, request)
    baselines = [bounds.baseline for bounds in result.subproblems]
    names = result.features.names
    (baseline_score, baseline_error), *scores = (
        cross_validated_score(baselines, features, fit_scaling, seed)
        for features in (np.arange(len(names)), *(chosen.members for chosen in sets))
    )
    solutions = []
    for chosen, (score, error) in zip(sets, scores, strict=True):
        models = [
            bounds.model(coef, offset)
            for bounds, (coef, offset) in zip(result.subproblems, chosen.models, strict=True)
        ]
        cheapest = result.with_models(models)
        solutions.append(
            CheapestModel(
                features=[names[j] for j in chosen.members],
                members=chosen.members,
                cost=chosen.cost,
                proven=chosen.proven,
                gap=max(0.0, chosen.cost - chosen.bound) if not chosen.proven else 0.0,
                model=cheapest.baseline,
                score=score,
                score_error=error,
                predictor=make_predictor(cheapest),
            )
        )
    return CheapestModels(
        feature_names=names,
        costs=request.costs,
        solutions=solutions,
        baseline_used=result.features.baseline != 0,
        baseline_score=baseline_score,
        baseline_score_error=baseline_error,
        complete=complete,
    )


def find_cheapest_sets(
    subproblems: Sequence[SubproblemBounds], request: DesignRequest
) -> tuple[list[FeatureSet], bool]:
    """The cheapest sets of features, and whether there are no others."""
    n = len(request.costs)
    fixed = np.tile([0.0, 1.0], (n, 1))
    # What every equally good model of some subproblem needs, there is no choice about.
    needed = np.any([bounds.interval[:n, LOWER] > 0 for bounds in subproblems], axis=0)
    fixed[np.flatnonzero(needed)] = 1.0
    fixed[request.must_use], fixed[request.must_not_use] = 1.0, 0.0
    search = CheapestSearch(
        [bounds.models for bounds in subproblems],
        [bounds.ranges for bounds in subproblems],
        [bounds.signed_interval for bounds in subproblems],
        request.costs,
        fixed,
        [bounds.baseline.model.C_ for bounds in subproblems],
    )
    deadline = None if request.max_seconds is None else time.time() + request.max_seconds
    sets = list(islice(search.search(deadline), request.n_solutions))
    if not sets:
        raise InputError(
            "No equally good model does without all of must_not_use: allow some of these features."
        )
    return sets, len(sets) < request.n_solutions and not search.timed_out
