"""The cheapest equally good models, asked of fitted bounds."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ...exceptions import InputError
from ..design import CheapModel, Design, Wanted, find_cheapest, read_costs, scores_of
from ..fitted import baseline_weights, feature_names
from ..held_out import HeldOutScore
from ..scaling import no_scaling, standard_scaling
from ..solver.cheapest import FeatureSet
from .questions import QuestionsMixin


class DesignsMixin(QuestionsMixin):
    """Models by the cost of their features, whatever the task."""

    standardize: bool
    random_state: Any

    def cheapest(
        self,
        costs: Any = None,
        *,
        must_use: Sequence[int | str] = (),
        must_not_use: Sequence[int | str] = (),
        n_solutions: int = 1,
        max_seconds: float | None = None,
    ) -> Design:
        """The equally good models whose features cost least.

        Found as mixed-integer programs by HiGHS, and proven to be the cheapest ones unless time
        runs out. With costs of 1 they are the smallest sets of features that suffice.

        Parameters
        ----------
        costs : dict or array-like of shape (n_features,), default=None
            Cost of each feature, by name or in the order of the table, none negative. By default
            each costs 1. Privileged features cost nothing: they are not needed for predictions.
        must_use : sequence of int or str, default=()
            Features that are in every set, as if they were acquired already. They count in the
            cost; the models may use them.
        must_not_use : sequence of int or str, default=()
            Features that are in none.
        n_solutions : int, default=1
            Number of different sets to look for, the cheapest first. No set holds another one.
        max_seconds : float, default=None
            Time for the search. When it is up, the best set found so far is the last one, with its
            proven gap.

        Returns
        -------
        Design
            A sequence of models with ``features``, ``cost``, ``model``, ``proven`` and a
            cross-validated ``score``; fewer than asked for if there are no more.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
        >>> design = bounds.cheapest([1, 5, 2, 1], n_solutions=5)
        >>> [(model.features, model.cost, model.proven) for model in design]
        [(['x0', 'x2'], 3.0, True), (['x0', 'x1'], 6.0, True)]
        >>> design.core(), design.complete
        (['x0'], True)
        """
        self._require_one_set()
        wanted = self._wanted(costs, must_use, must_not_use, n_solutions, max_seconds)
        problems = self._problems
        sets, complete = find_cheapest(problems, wanted)
        scaling = standard_scaling if self.standardize else no_scaling
        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        everything = np.arange(self.n_features_in_)
        own, *scores = scores_of(
            problems, [everything, *(found.members for found in sets)], scaling, int(seed)
        )
        return Design(
            feature_names=feature_names(self),
            costs=wanted.costs,
            solutions=[
                self._cheap_model(found, score) for found, score in zip(sets, scores, strict=True)
            ],
            baseline_used=baseline_weights(self) != 0,
            baseline_score=own.mean,
            baseline_score_error=own.error,
            complete=complete,
        )

    def _wanted(
        self,
        costs: Any,
        must_use: Sequence[int | str],
        must_not_use: Sequence[int | str],
        n_solutions: int,
        max_seconds: float | None,
    ) -> Wanted:
        if not (isinstance(n_solutions, Integral) and n_solutions >= 1):
            raise InputError(f"n_solutions must be a whole number from 1 on, got {n_solutions!r}.")
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds must be above 0, or None, got {max_seconds!r}.")
        use, leave = ([self._own_feature(f) for f in asked] for asked in (must_use, must_not_use))
        both = set(use) & set(leave)
        if both:
            name = feature_names(self)[min(both)]
            raise InputError(f"{name!r} is in must_use and in must_not_use.")
        return Wanted(
            costs=read_costs(costs, feature_names(self)),
            must_use=np.array(use, dtype=np.intp),
            must_not_use=np.array(leave, dtype=np.intp),
            n_solutions=int(n_solutions),
            max_seconds=max_seconds,
        )

    def _own_feature(self, feature: int | str) -> int:
        index = self._feature_index(feature)
        if index >= self.n_features_in_:
            raise InputError(f"{feature!r} is a privileged feature, which no prediction needs.")
        return index

    def _cheap_model(self, found: FeatureSet, score: HeldOutScore) -> CheapModel:
        models = [
            problem.standard.samples.model(coef, offset, problem.baseline.C_, problem.models.rows)
            for problem, (coef, offset) in zip(self._problems, found.models, strict=True)
        ]
        predictor = copy(self)
        predictor._problems = [
            replace(problem, standard=replace(problem.standard, baseline=model))
            for problem, model in zip(self._problems, models, strict=True)
        ]
        predictor._summarise()
        names = feature_names(self)
        return CheapModel(
            features=[names[j] for j in found.members],
            members=found.members,
            cost=found.cost,
            proven=found.proven,
            gap=max(0.0, found.cost - found.bound) if not found.proven else 0.0,
            model=predictor.baseline_,
            score=score.mean,
            score_error=score.error,
            predictor=predictor,
        )
