"""What can be asked of fitted bounds: what if, what replaces what, what is cheapest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...exceptions import InputError
from ..constraints import Constraint, Wish, read_wish
from ..design import CheapModel, Design, Wanted, find_cheapest, read_costs, scores_of
from ..fitted import baseline_weights, feature_names, privileged_names
from ..held_out import HeldOutScore
from ..problem import ProblemBounds
from ..relevance import IRRELEVANT
from ..relations import Relations, find_relations
from ..scaling import no_scaling, standard_scaling
from ..solver.cheapest import FeatureSet
from ..solver.intervals import UPPER
from ..solver.narrowed import UnitedRanges
from ..what_if import narrowed_problem


# What only a result under constraints has.
OF_CONSTRAINTS = ("constraints_", "_free_problems", "_wishes")


class QuestionsMixin:
    """Questions to fitted bounds, whatever their task."""

    _problems: list[ProblemBounds]

    def what_if(
        self, constraints: Mapping[Any, Any], *, signed: bool = False, label: Any = None
    ) -> Self:
        """The bounds if only models count that keep an expert's constraints.

        Parameters
        ----------
        constraints : dict
            What is asked of features, by name or index (privileged ones count on behind the
            others):

            - ``"drop"``: weight zero, as if the feature were not there;
            - ``"keep"``: a size of at least the cutoff that a relevant feature's weight exceeds
              (the second of ``cutoff_``);
            - a number: exactly this size;
            - ``(lo, hi)``: a size from ``lo`` to ``hi``, None for an open end.

            Numbers are on the scale of ``interval_``.
        signed : bool, default=False
            Numbers are about weights with their signs, on the scale of ``signed_interval_``,
            instead of their sizes. A size from below leaves the sign open: where both are
            possible, the result is about the models of either sign.
        label : object, default=None
            With more than two classes, the class whose models the constraints are about. By
            default those of every class; ``"keep"`` then only of those for which the feature is
            relevant.

        Returns
        -------
        estimator
            A copy of this one, with the bounds under the constraints in all its attributes
            (``interval_``, ``relevance_``, ``baseline_``, ...) and methods (``witness``,
            ``to_frame``, ``plot``, ``predict``, ...), and with ``constraints_``. Cutoffs are those
            of the fit. Asked again, it keeps its constraints unless new ones are about the same
            features.

        Raises
        ------
        ClashError
            If no equally good model keeps the constraints. It names a smallest set of constraints
            that clash, and by how much each of them would have to move.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
        >>> [str(r) for r in bounds.relevance_]
        ['strong', 'weak', 'weak', 'irrelevant']
        >>> without = bounds.what_if({1: "drop"})
        >>> [str(r) for r in without.relevance_]
        ['strong', 'irrelevant', 'strong', 'irrelevant']
        >>> bounds.what_if({1: "drop", 2: (0, 0.2), 3: "drop"})
        Traceback (most recent call last):
        ...
        allrelevant.exceptions.ClashError: No equally good model has all of: |weight| of 'x1' = 0, \
|weight| of 'x2' <= 0.2. One of them would have to move, the others staying as they are: 'x1' by \
1.16, 'x2' by 1.17.
        """
        check_is_fitted(self)
        free = getattr(self, "_free_problems", self._problems)
        asked = {**getattr(self, "_wishes", {}), **self._read(constraints, signed, label)}
        result = copy(self)
        result._free_problems, result._wishes = free, asked
        result._problems = [
            narrowed_problem(problem, self._constraints(index, problem, asked))
            for index, problem in enumerate(free)
        ]
        result._summarise()
        result.constraints_ = self._in_words(asked)
        return result

    def relations(self) -> Relations:
        """What replaces what among the relevant features, and which belong together.

        Two intervals of each relevant feature are found anew for each other one: with that one
        dropped, and with it raised to half its largest weight. It takes a while with many relevant
        features, so it is not part of ``fit``; ``n_jobs`` and ``verbose`` are those of the estimator.

        Returns
        -------
        Relations
            With ``relations_``, ``groups_``, tables and figures.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
        >>> relations = bounds.relations()
        >>> relations.kind(1, 2), relations.kind(0, 1)
        ('substitutes', 'independent')
        >>> [(group.features, group.relevance) for group in relations.groups_]
        [(['x0'], 'strong'), (['x1', 'x2'], 'strong')]
        """
        self._require_one_set()
        return find_relations(
            self._problems, self._names(), n_jobs=self.n_jobs, verbose=bool(self.verbose)
        )

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
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
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
            baseline_cost=float(wanted.costs[baseline_weights(self) != 0].sum()),
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

    def _require_one_set(self) -> None:
        """A union of sets, where constraints leave signs open, is no set of models."""
        check_is_fitted(self)
        if any(isinstance(problem.ranges, UnitedRanges) for problem in self._problems):
            raise InputError(
                "The constraints leave the sign of a weight open. Say which one it is first: "
                "what_if(..., signed=True)."
            )

    def _in_words(self, asked: Mapping[int, Wish]) -> list[str]:
        """The constraints as the problems have them, each once."""
        free = getattr(self, "_free_problems", self._problems)
        words = [
            str(constraint)
            for index, problem in enumerate(free)
            for constraint in self._constraints(index, problem, asked)
        ]
        return list(dict.fromkeys(words))

    def _names(self) -> list[str]:
        return [*feature_names(self), *privileged_names(self)]

    def _read(self, constraints: Mapping[Any, Any], signed: bool, label: Any) -> dict[int, Wish]:
        """What is asked of each feature, by its index."""
        if not isinstance(constraints, Mapping):
            raise InputError(
                f"Constraints are a dict of features and what is asked of them, got {constraints!r}."
            )
        names, varying = self._names(), self._problems[0].standard.features
        problem = None if label is None else self._problem_of_label(label)
        asked: dict[int, Wish] = {}
        for key, value in constraints.items():
            feature = self._feature_index(key)
            if feature in asked:
                raise InputError(f"{names[feature]!r} is asked for twice, by name and by index.")
            if feature not in varying:
                raise InputError(
                    f"{names[feature]!r} is constant and no model uses it: nothing can be asked of it."
                )
            asked[feature] = read_wish(names[feature], value, signed=signed, problem=problem)
        return asked

    def _problem_of_label(self, label: Any) -> int:
        classes = getattr(self, "classes_", np.empty(0))
        (found,) = np.nonzero(classes == label)
        if len(self._problems) == 1 or len(found) == 0:
            raise InputError(
                f"label={label!r} names no problem: there is one for each class only where a "
                f"classification has more than two. The classes are {classes.tolist()}."
            )
        return int(found[0])

    def _constraints(
        self, index: int, problem: ProblemBounds, asked: Mapping[int, Wish]
    ) -> list[Constraint]:
        """What is asked of the models of one of the problems."""
        names, samples = self._names(), problem.standard.samples
        found = []
        for feature, wish in asked.items():
            if wish.problem not in (None, index):
                continue
            if wish.keep and self._is_kept_elsewhere(feature, problem):
                continue
            table = int(feature >= samples.n_features)
            cutoff = float(problem.cutoff[table, UPPER])
            found.append(wish.constraint(feature, names[feature], cutoff))
        return found

    def _is_kept_elsewhere(self, feature: int, problem: ProblemBounds) -> bool:
        """Whether a feature is relevant for some class, but not for this one."""
        free = getattr(self, "_free_problems", self._problems)
        relevant = [p.relevance[feature] != IRRELEVANT for p in free]
        return any(relevant) and problem.relevance[feature] == IRRELEVANT
