"""Relevance bounds for a learned metric."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..._params import CV, MAPPING_SLACK
from ..._typing import Codes, Matrix, Vector
from ..._validation import (
    COUNT,
    MAX_SIZE,
    MAX_UNSCALED,
    check_groups,
    check_labels,
    encode_classes,
)
from ...exceptions import InputError
from ...metric_learning import GMLVQ
from ...metric_learning._base import weighted_rows
from ...resampling import draw_seeds, grouped_folds, stratified_folds
from ...tables.target import class_labels
from ...terms.validation import validate_table
from ..task import CLASS_WORDING, Task, majority_fraction
from .dimension import DimensionCurve, classifier_for, dimension_curve, fit_learner
from .linear_mapping import LinearMapping, data_space, learned_matrix
from .mapping_estimator import MappingBoundsBase

N_FOLDS = 5

METRIC = Task(
    "metric",
    class_labels,
    majority_fraction,
    replace(CLASS_WORDING, aim="separate the classes by distance", model="averaged mapping"),
)


class MetricBounds(ClassifierMixin, MappingBoundsBase):
    """Relevance bounds for a learned metric.

    The estimator trains a metric learner and determines the number of principal directions in which
    its mapping must be preserved to separate the classes. It then bounds the weights of all
    mappings that agree in these directions; see :class:`MappingBounds`. ``predict`` uses the mean
    of the mappings that attain the bounds, which is sparser and often more accurate than the
    learned mapping.

    Schulz, Mokbel, Biehl and Hammer, "Inferring feature relevances from metric learning", SSCI
    2015.

    Parameters
    ----------
    learner : estimator or None, default=None
        Classifier or transformer with ``omega_``, ``components_`` or ``coef_`` after ``fit``, such
        as ``GMLVQ``, ``LMNN`` or ``NeighborhoodComponentsAnalysis``. It is cloned and fitted on the
        scaled table. None uses ``GMLVQ(rank=2)``.
    effective_dimension : "cv", int, float or "spectrum", default="cv"
        Number of principal directions in which equivalent mappings must agree. "cv" applies the
        one-standard-error rule: it chooses the smallest number for which the held-out error of the
        mappings at the bounds is within one standard error of the best. For the other values, see
        :class:`MappingBounds`.
    max_dimension : int, default=30
        Largest number of directions that "cv" tries.
    slack, cutoff, standardize, n_jobs, verbose
        See :class:`MappingBounds`.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds. The learner has a separate seed.

    Attributes
    ----------
    interval_, row_interval_, signed_row_interval_, gap_, relevance_, cutoff_, baseline_, \
raw_mapping_, effective_dimension_
        See :class:`MappingBounds`.
    learner_ : estimator
        Learner fitted on the scaled table.
    dimension_curve_ : DimensionCurve
        Errors by number of directions; only with "cv".
    averaged_mapping_ : LinearMapping
        Mean of the mappings that attain the bounds.
    cv_score_ : float
        Cross-validated accuracy of the averaged mapping; only with "cv". It is slightly optimistic,
        because the dimension was chosen on the same held-out samples.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during ``fit``; only if ``X`` has feature names that are all strings.

    Examples
    --------
    >>> from allrelevant import GMLVQ, MetricBounds
    >>> from allrelevant.datasets import make_xor
    >>> data = make_xor(random_state=0)
    >>> learner = GMLVQ(prototypes_per_class=2, random_state=0)
    >>> bounds = MetricBounds(learner, random_state=0).fit(data.X, data.y)
    >>> [str(r) for r in bounds.relevance_]
    ['weak', 'weak', 'weak', 'strong', 'irrelevant', 'irrelevant']
    >>> bounds.effective_dimension_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MappingBoundsBase._parameter_constraints,
        "learner": [object, None],
        "effective_dimension": [
            COUNT,
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"cv", "spectrum"}),
        ],
        "max_dimension": [COUNT],
        "random_state": ["random_state"],
    }

    task: ClassVar[Task] = METRIC

    def __init__(
        self,
        learner: Any = None,
        *,
        effective_dimension: int | float | Literal["cv", "spectrum"] = CV,
        max_dimension: int = 30,
        slack: float = MAPPING_SLACK,
        cutoff: float | Literal["slack"] = "slack",
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.learner = learner
        self.effective_dimension = effective_dimension
        self.max_dimension = max_dimension
        self.slack = slack
        self.cutoff = cutoff
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric, compute the bounds and assign a relevance class to each feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample in the scaling, the learner, the principal directions and the
            errors. The learner's ``fit`` must accept it, as that of :class:`GMLVQ` and
            :class:`LMNN` does. Samples of weight zero are ignored.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient. Samples of the same group are never separated
            by the folds in which the dimension is chosen.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        X, y = validate_table(
            self,
            X,
            y,
            dtype=np.float64,
            ensure_min_samples=2,
            max_size=MAX_SIZE if self.standardize else MAX_UNSCALED,
        )
        row_groups = check_groups(groups, len(y))
        if row_groups is not None and sample_weight is not None:
            row_groups = row_groups[np.asarray(sample_weight) > 0]
        X, y, weight = weighted_rows(X, y, sample_weight)
        check_labels(y)
        self.classes_, codes = encode_classes(y)
        scaled = self._scale(X, weight)
        learner = (
            GMLVQ(rank=min(2, self.n_features_in_)) if self.learner is None else clone(self.learner)
        )
        if weight is not None and not has_fit_parameter(learner, "sample_weight"):
            raise InputError(
                f"{type(learner).__name__} does not accept sample weights. Omit the weights, or "
                "use a different learner, such as GMLVQ."
            )
        dimension = self._dimension(learner, scaled, codes, weight, row_groups)
        self.learner_ = fit_learner(learner, scaled, codes, weight)
        self._bound(learned_matrix(self.learner_), data_space(scaled, weight), dimension)
        averaged = self._bounds.at_bounds().mean(axis=0)
        self.averaged_mapping_ = LinearMapping(averaged, self._scaling)
        self._classifier = classifier_for(self.learner_, scaled, codes, weight)
        return self

    def _dimension(
        self,
        learner: Any,
        X: Matrix,
        codes: Codes,
        weight: Vector | None,
        row_groups: NDArray[Any] | None,
    ) -> int | float | Literal["spectrum"]:
        """Return the effective dimension, chosen by cross-validation if the parameter is "cv".

        "cv" also sets ``dimension_curve_`` and ``cv_score_``.
        """
        for name in {"dimension_curve_", "cv_score_"} & set(vars(self)):
            delattr(self, name)  # set by an earlier fit
        if self.effective_dimension != "cv":
            return self.effective_dimension
        (seed,) = draw_seeds(self.random_state, 1)
        setting = "effective_dimension as a number"
        folds = (
            stratified_folds(codes, N_FOLDS, seed, setting)
            if row_groups is None
            else grouped_folds(row_groups, N_FOLDS, seed, codes, setting)
        )
        curve = dimension_curve(
            learner,
            X,
            codes,
            folds,
            self.slack,
            weight=weight,
            max_dimension=self.max_dimension,
            n_jobs=self.n_jobs,
            progress="dimensions" if self.verbose else None,
        )
        self.dimension_curve_: DimensionCurve = curve
        chosen = curve.best()
        error = curve.averaged_error[curve.dimensions == chosen]
        self.cv_score_ = 1.0 - float(error.mean())
        return chosen

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds, the learner's name and its errors as JSON-compatible values.

        See :meth:`MappingBounds.to_dict`.
        """
        curve = getattr(self, "dimension_curve_", None)
        return {
            **super().to_dict(),
            "learner": type(self.learner_).__name__,
            "curve": None if curve is None else curve.to_dict(),
        }

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample with the mean of the mappings that attain bounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        check_is_fitted(self)
        X = validate_table(self, X, dtype=np.float64, reset=False)
        codes = self._classifier.predict(self.averaged_mapping_.matrix_, self._scaling.apply(X))
        return self.classes_[codes]
