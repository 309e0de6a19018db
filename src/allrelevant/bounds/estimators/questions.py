"""What can be asked of fitted bounds: what if, and what replaces what."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...exceptions import InputError
from ...parallel import one_thread
from ..constraints import Constraint, Wish, read_wish
from ..fitted import feature_names, privileged_names
from ..models import LinearModel, LinearModels
from ..problem import ProblemBounds
from ..relations import Relations, find_relations
from ..relevance import IRRELEVANT
from ..solver.intervals import UPPER
from ..solver.narrowed import UnitedRanges
from ..what_if import narrowed_problem
from .base import RelevanceBoundsMixin

# What only a result under constraints has.
OF_CONSTRAINTS = ("constraints_", "_free_problems", "_wishes")


class QuestionsMixin(RelevanceBoundsMixin):
    """Questions to fitted bounds, whatever their task."""

    n_jobs: int | None
    verbose: int
    baseline_: LinearModel | LinearModels
    constraints_: list[str]
    _problems: list[ProblemBounds]
    _free_problems: list[ProblemBounds]
    _wishes: dict[int, Wish]

    @abstractmethod
    def _summarise(self) -> None:
        """Read the public attributes off the solved problems."""

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
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
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
5.71, 'x2' by 5.71.
        """
        check_is_fitted(self)
        free = getattr(self, "_free_problems", self._problems)
        asked = {**getattr(self, "_wishes", {}), **self._read(constraints, signed, label)}
        result = copy(self)
        result._free_problems, result._wishes = free, asked
        with one_thread():
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
        dropped, and with it raised to half its largest weight. With many relevant features that
        takes a while, so it is not part of ``fit``; ``n_jobs`` and ``verbose`` are the estimator's.

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
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
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
                f"Constraints are a dict of features and what is asked, got {constraints!r}."
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
                    f"{names[feature]!r} is constant, and no model uses it: ask nothing of it."
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
