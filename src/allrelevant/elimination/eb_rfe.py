"""Evaluation-based RFE: the worst features compete, and cross-validation decides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from .._sklearn import Interval, StrOptions
from ..exceptions import InputError
from .plan import Plan
from .svm_rfe import SVMRFE


class EBRFE(SVMRFE):
    """Evaluation-based recursive feature elimination (Krupka 2016, Algorithm 3).

    As :class:`SVMRFE`, but at each step the features that matter least compete: each subset
    without one of them is cross-validated at every C, and the best subset is the next one. Of
    equally good ones, the feature that matters least leaves.

    Parameters
    ----------
    n_candidates : int or "auto", default=5
        How many compete. 1 is :class:`SVMRFE` exactly. ``"auto"``: as many as have a weight that
        is close to the smallest one, within a tenth of the mean weight, at most 12: few where the
        weights are clear, many where they are not.
    kernel, C, gamma, degree, coef0, class_weight, criterion : optional
        See :class:`SVMRFE`.
    step : int or float, default=1
        How many features leave at a time. The worst of them leave in any case, and
        ``n_candidates`` compete for the last place.
    min_variance, min_features, rule, cv, scoring, nested, tol, checkpoint, n_jobs, verbose : \
optional
        See :class:`SVMRFE`; ``cv`` cannot be None.

    Attributes
    ----------
    ranking_, support_, n_features_, scores_, fold_scores_, n_subset_features_, best_score_, \
history_, nested_, classes_, n_features_in_, feature_names_in_
        See :class:`SVMRFE`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import EBRFE
    >>> X, y = make_classification(
    ...     80, 10, n_informative=2, n_redundant=0, n_clusters_per_class=1, shuffle=False,
    ...     random_state=0)
    >>> rfe = EBRFE(n_candidates=3, C=[0.25, 1, 4], nested=True).fit(X, y)
    >>> rfe.history_["candidates"].str.len().tolist()
    [0, 3, 3, 3, 3, 3, 3, 3, 3, 2]
    >>> rfe.best_score_ >= rfe.nested_.score
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVMRFE._parameter_constraints,
        "n_candidates": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        n_candidates: int | Literal["auto"] = 5,
        kernel: Literal["linear", "rbf", "poly", "sigmoid"] = "linear",
        C: float | ArrayLike = 1.0,
        gamma: float | Literal["auto"] = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        step: float = 1,
        class_weight: Mapping[Any, float] | Literal["balanced", "cw2", "cw3"] | None = None,
        criterion: Literal["weights", "margin"] = "weights",
        min_variance: float = 0.0,
        min_features: int = 1,
        rule: Literal["best", "one_se"] | int = "best",
        cv: Any = 5,
        scoring: Any = None,
        nested: Any = False,
        tol: float = 1e-6,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            C=C,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            step=step,
            class_weight=class_weight,
            criterion=criterion,
            min_variance=min_variance,
            min_features=min_features,
            rule=rule,
            cv=cv,
            scoring=scoring,
            nested=nested,
            tol=tol,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_candidates = n_candidates

    @property
    def _n_candidates(self) -> int | Literal["auto"]:
        return self.n_candidates

    def _require_sense(self, plan: Plan) -> None:
        if self.cv is None:
            raise InputError("EBRFE decides by cross-validation: cv cannot be None.")
        super()._require_sense(plan)
