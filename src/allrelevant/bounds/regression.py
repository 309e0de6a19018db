"""Linear regression with an epsilon-insensitive loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_absolute_error_score
from sklearn.utils._param_validation import StrOptions

from .._params import (
    AUTO,
    CUTOFF,
    CV,
    FDR_LEVEL,
    FPR,
    LOSS_SLACK,
    LOSS_TOL,
    N_PROBES,
    NORM_SLACK,
    TOL,
    CutoffName,
)
from .._typing import Table, Vector
from .._validation import MAX_SIZE, MAX_UNSCALED, NONNEGATIVE, check_numeric_target
from ..exceptions import InputError
from ..tables.target import target_values
from ._base import RelevanceBounds
from .models import LinearModel
from .predictors import LinearRegressor
from .programs.hinge import HingeRows, Requirements, stack_tables
from .result import BoundsResult
from .task import Subproblem, Task, TaskData, TaskWording


@dataclass(frozen=True)
class RegressionData(TaskData):
    """Data with a numeric target; errors up to ``epsilon`` have zero loss.

    ``y`` is the target minus ``center``, divided by ``unit``.
    """

    epsilon: float = field(default=0.0, kw_only=True)
    center: float = field(default=0.0, kw_only=True)
    unit: float = field(default=1.0, kw_only=True)

    def requirements(self) -> Requirements:
        """Return the constraints ``|y - w . x - offset| <= epsilon``, two per sample."""
        samples = np.arange(self.n_samples)
        ones = np.ones((self.n_samples, 1))
        rows = HingeRows(
            table=stack_tables([self.X, -self.X]),
            offset_table=np.vstack([ones, -ones]),
            target=np.r_[self.y - self.epsilon, -self.y - self.epsilon],
            weight=np.r_[self.weight, self.weight],
        )
        return Requirements(rows, np.r_[samples, samples])

    def score(self, model: LinearModel) -> float:
        """Return the fraction of the absolute deviation from the median that a model explains."""
        predicted = model.decision_function(self.X)
        return float(d2_absolute_error_score(self.y, predicted, sample_weight=self.weight))

    def predictor(self, model: LinearModel) -> LinearRegressor:
        return LinearRegressor(model, self.center, self.unit)

    def proof_coding(self, cells: Sequence[Any]) -> dict[str, Any]:
        return {"center": self.center, "factor": 1.0 / self.unit, "epsilon": self.epsilon}

    def observed(self) -> Vector:
        return self.y * self.unit + self.center

    def association_target(self) -> Vector:
        """Return the ranks of the target, which outliers do not dominate."""
        return rankdata(self.y)

    def strata(self) -> None:
        return None


def _deviation_explained(est: Any, X: Any, y: Any) -> float:
    return float(d2_absolute_error_score(np.asarray(y, dtype=float), est.predict(X)))


REGRESSION = Task(
    "regression",
    target_values,
    chance=lambda class_sizes: 0.0,
    training_score=_deviation_explained,
    wording=TaskWording(
        aim="predict the target",
        classes="",
        score="fraction of the absolute deviation from the median that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the absolute deviation of the target from its median on held-out "
        "rows (cross-validation)",
        training="{} on the training rows",
        training_alone="explains {} of the absolute deviation of the target from its median on the "
        "training rows",
        without_features="always predicting the median would explain none of it",
        scaled="features and target scaled to variance 1",
        loss="amount by which absolute errors exceed epsilon, summed over the rows",
    ),
)

# Values of epsilon that cross-validation tries, in standard deviations of the target.
EPSILON_GRID = (0.03, 0.1, 0.3)


class RegressionBounds(RegressorMixin, RelevanceBounds):
    """Relevance bounds for linear regression.

    The baseline is an l1-regularized linear model with an epsilon-insensitive loss:
    ``min |w|_1 + C sum max(0, |y - w . x - b| - epsilon)``. The equivalent models, the bounds and
    the relevance classes are defined as in :class:`ClassificationBounds`.

    Parameters
    ----------
    epsilon : float or "cv", default="cv"
        Largest prediction error with zero loss, in units of the target. ``"cv"`` chooses the best
        of 0.03, 0.1 and 0.3 standard deviations of the target by cross-validation.
    C : float or "cv", default="cv"
        Weight of the loss relative to the norm, for the scaled data. ``"cv"`` chooses the best
        value of a grid by cross-validation.
    scoring : str, callable or None, default=None
        Score by which C and epsilon are chosen: the name of a scikit-learn scorer, such as
        ``"r2"`` or ``"neg_mean_absolute_error"``, or a callable ``scorer(estimator, X, y)``. The
        target and its predictions are in units of the target. None means the explained fraction of
        the absolute deviation from the median.
    Cs, cv, norm_slack, loss_slack, loss_tol, categorical, curves, terms, cutoff, fdr, n_probes, \
fpr, tol, screen, max_seconds, random_state, n_jobs, verbose
        As in :class:`ClassificationBounds`.
    standardize : bool, default=True
        Whether to scale each feature and the target to mean 0 and variance 1 (a sparse ``X`` to
        variance 1 only). A weight is then the change of the target, in standard deviations, per
        standard deviation of the feature.

    Attributes
    ----------
    interval_, signed_interval_, relevance_, pvalue_, qvalue_, table_pvalue_, rule_, gap_, exact_, \
cutoff_, baseline_
        As in :class:`ClassificationBounds`.
    cv_score_ : float
        Cross-validated fraction of the absolute deviation from the median that the baseline
        explains, or its score by ``scoring``. Only if C or epsilon was chosen by cross-validation.
    epsilon_ : float
        Value of epsilon in use, in units of the target.
    privileged_interval_, privileged_signed_interval_, privileged_relevance_, privileged_gap_, \
privileged_exact_, privileged_cutoff_, privileged_pvalue_, privileged_qvalue_, \
privileged_table_pvalue_
        The same attributes for the privileged features, if there are any.
    n_features_in_, feature_names_in_
        As in :class:`ClassificationBounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import RegressionBounds
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 2] = X[:, 1]
    >>> bounds = RegressionBounds(random_state=0).fit(X, X[:, 0] + X[:, 1])
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RelevanceBounds._parameter_constraints,
        "epsilon": [NONNEGATIVE, StrOptions({"cv"})],
    }
    task = REGRESSION
    _numeric_target = True

    def __init__(
        self,
        *,
        epsilon: float | Literal["cv"] = CV,
        C: float | Literal["cv"] = CV,
        Cs: ArrayLike | None = None,
        cv: Any = None,
        scoring: Any = None,
        norm_slack: float = NORM_SLACK,
        loss_slack: float = LOSS_SLACK,
        loss_tol: float = LOSS_TOL,
        standardize: bool = True,
        categorical: Sequence[int | str] | None = None,
        curves: int | None = None,
        terms: Mapping[str, Sequence[int | str]] | None = None,
        cutoff: float | CutoffName = CUTOFF,
        fdr: float = FDR_LEVEL,
        n_probes: int = N_PROBES,
        fpr: float = FPR,
        tol: float = TOL,
        screen: bool | Literal["auto"] = AUTO,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C=C,
            Cs=Cs,
            cv=cv,
            scoring=scoring,
            norm_slack=norm_slack,
            loss_slack=loss_slack,
            loss_tol=loss_tol,
            standardize=standardize,
            categorical=categorical,
            curves=curves,
            terms=terms,
            cutoff=cutoff,
            fdr=fdr,
            n_probes=n_probes,
            fpr=fpr,
            tol=tol,
            screen=screen,
            max_seconds=max_seconds,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.epsilon = epsilon

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        values = check_numeric_target(y, MAX_SIZE if self.standardize else MAX_UNSCALED)
        center = float(np.average(values, weights=weight))
        std = float(np.sqrt(np.average((values - center) ** 2, weights=weight)))
        if std <= 10 * np.finfo(float).eps * abs(center):
            raise InputError(
                f"The target has a single value, {values[0]:g}, so there is nothing to predict. "
                "Check that the right column is used as the target."
            )
        self._y_center, self._y_scale = (center, std) if self.standardize else (0.0, 1.0)
        scaled = (values - self._y_center) / self._y_scale
        epsilons = [std * e for e in EPSILON_GRID] if self.epsilon == "cv" else [self.epsilon]
        data = RegressionData(
            X, scaled, weight, privileged, center=self._y_center, unit=self._y_scale
        )
        return [Subproblem("", [replace(data, epsilon=e / self._y_scale) for e in epsilons])]

    def _set_fitted_attributes(self, result: BoundsResult) -> None:
        super()._set_fitted_attributes(result)
        data = cast(RegressionData, result.subproblems[0].baseline.data)
        self.epsilon_ = data.epsilon * self._y_scale

    def _subproblem_records(self) -> list[dict[str, Any]]:
        (record,) = super()._subproblem_records()
        record["baseline"]["epsilon"] = float(self.epsilon_)
        return [record]

    def predict(self, X: Any) -> Vector:
        """Predict the target with the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted values, in units of the target.
        """
        return self._values(X) * self._y_scale + self._y_center
