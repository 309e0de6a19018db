"""Classification: two classes on the two sides of a hyperplane; more, each against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._params import (
    AUTO,
    CV,
    FORMULATION,
    FPR,
    LOSS_SLACK,
    LOSS_TOL,
    N_PROBES,
    NORM_SLACK,
    PROBES,
    CutoffName,
    FormulationName,
)
from .._typing import Matrix, Table, Vector
from .._validation import encode_classes
from ..exceptions import InputError
from ..resampling import Fold, stratified_folds
from ..tables.target import class_labels
from ._base import RelevanceBounds
from .baseline import FORMULATIONS, Formulation
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, signed_table
from .risk import RiskBound, risk_bound
from .task import CLASS_WORDING, Subproblem, Task, TaskData, majority_share


@dataclass(frozen=True)
class ClassificationData(TaskData):
    """Two-class data; ``y`` is -1 or +1."""

    def requirements(self) -> Requirements:
        """``y (w . x + offset) >= 1`` for each sample."""
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.ones(self.n_samples),
            weight=self.weight,
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Weighted share of the samples on the right side."""
        right = (model.decision_function(self.X) > 0) == (self.y > 0)
        return float(right @ self.weight / self.weight.sum())

    def chance_score(self) -> float:
        """That of always saying the heavier class."""
        positive = float(self.weight[self.y > 0].sum() / self.weight.sum())
        return max(positive, 1.0 - positive)

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return stratified_folds(self.y, n_folds, seed)


CLASSIFICATION = Task("classification", class_labels, majority_share, CLASS_WORDING)


class ClassificationBounds(ClassifierMixin, RelevanceBounds):
    """How small and how large each weight can be, over all equally good linear classifiers.

    A baseline classifier is trained, and with it the set of all linear classifiers that are as
    good: their norm and their loss are no more than the baseline's, plus a little slack. For each
    feature two linear programs find the smallest and the largest weight in that set. A feature
    that every model of the set must use is *strong*; one that some use and others do without is
    *weak*, for others can replace it; one that none can use is *irrelevant*.

    Parameters
    ----------
    C : float or "cv", default="cv"
        Weight of the loss against the norm. Large values fit the training data more closely.
        ``"cv"`` takes the best of a grid by cross-validation, for each class on its own.
    norm_slack : float, default=0.1
        Relative slack of the norm: an equivalent model may have a norm up to
        ``1 + norm_slack`` times the baseline's. More slack makes the intervals wider.
    loss_slack : float, default=0.05
        Relative slack of the loss.
    loss_tol : float, default=1e-6
        Absolute slack of the loss. Where the classes can be separated the loss is zero, and a
        share of it allows nothing.
    formulation : {"separate", "joint"}, default="separate"
        ``"separate"``: norm and loss are limited each for itself, around an l1-regularized SVM.
        ``"joint"``: norm plus C times the loss is limited, around a common SVM.
    standardize : bool, default=True
        Scale each feature to variance 1 (and mean 0, unless ``X`` is sparse). Weights of features
        on different scales cannot be compared: turn this off only for features that already
        share one.
    class_weight : dict, "balanced" or None, default=None
        Weight of the loss of each class; ``"balanced"`` gives each class the same total.
    cutoff : "probes" or float, default="probes"
        What a bound must exceed to count. ``"probes"`` learns it from features that are
        irrelevant by construction: permuted copies of columns of ``X``, added to the table. A
        number is used as it is, for both bounds.
    n_probes : int, default=50
        Number of probes.
    fpr : float, default=1e-6
        Nominal probability that an irrelevant feature exceeds the cutoff, as if bounds were
        normally distributed. They are not, their tail is heavier: hence the small default.
    screen : bool or "auto", default="auto"
        False: exact bounds for all features. True: exact ones only for features that the
        baseline's certificate cannot already prove irrelevant; of the others the proven upper
        bound is reported (see ``exact_``). The classes are the same. ``"auto"`` screens tables
        of more than 10,000 features.
    max_seconds : float or None, default=None
        Time for the bounds, once C and the cutoff are known. When it is up, features that were
        not reached keep the upper bound that the baseline proves, which is not tight (see
        ``exact_`` and ``gap_``); those about which least was known come first. None: no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that choose C, and of the probes.
    n_jobs : int or None, default=None
        Number of worker processes, -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    interval_ : ndarray of shape (n_features, 2)
        Smallest and largest absolute weight of each feature, on the scale solved on. With more
        than two classes, the largest over the classes of each.
    signed_interval_ : ndarray of shape (n_features, 2)
        Smallest and largest weight, with its sign, over all classes.
    relevance_ : ndarray of shape (n_features,)
        ``"strong"``, ``"weak"`` or ``"irrelevant"``. With more than two classes, strong for some
        class makes a feature strong; relevant for some makes it at least weak.
    gap_ : ndarray of shape (n_features, 2)
        Proven error of each end of ``interval_``.
    exact_ : ndarray of shape (n_features,)
        False where ``interval_`` is a proven outer bound, because the feature was screened or
        time was up; ``gap_`` says how far it can be from the truth.
    cutoff_ : ndarray of shape (2,) or (n_classes, 2)
        What the lower bound must exceed for strong, and the upper bound for relevant; with more
        than two classes, for each class.
    baseline_ : LinearModel
        The baseline, with ``coef_``, ``intercept_``, ``norm_``, ``loss_`` and ``C_`` on the scale
        solved on. With more than two classes each has one more, leading, axis.
    cv_score_ : float or ndarray of shape (n_classes,)
        Cross-validated accuracy of the baseline, with more than two classes of each against the
        rest. Only with ``C="cv"``; the best of several, so a little flattering.
    class_interval_ : ndarray of shape (n_problems, n_features, 2)
        The intervals of each class against the rest. Two classes are one problem.
    class_relevance_ : ndarray of shape (n_problems, n_features)
        The relevance of each feature for each class against the rest.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if ``X`` had names that are all strings.
    privileged_interval_, privileged_relevance_, ...
        The same of the privileged features, if there were any.

    Examples
    --------
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> bounds = ClassificationBounds(random_state=0).fit(data.X, data.y)
    >>> [str(r) for r in bounds.relevance_]
    ['strong', 'weak', 'weak', 'irrelevant', 'irrelevant']
    >>> bounds.transform(data.X).shape
    (400, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RelevanceBounds._parameter_constraints,
        "formulation": [StrOptions(set(FORMULATIONS))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    task = CLASSIFICATION

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = CV,
        norm_slack: float = NORM_SLACK,
        loss_slack: float = LOSS_SLACK,
        loss_tol: float = LOSS_TOL,
        formulation: FormulationName = FORMULATION,
        standardize: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        cutoff: float | CutoffName = PROBES,
        n_probes: int = N_PROBES,
        fpr: float = FPR,
        screen: bool | Literal["auto"] = AUTO,
        max_seconds: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C=C,
            norm_slack=norm_slack,
            loss_slack=loss_slack,
            loss_tol=loss_tol,
            standardize=standardize,
            cutoff=cutoff,
            n_probes=n_probes,
            fpr=fpr,
            screen=screen,
            max_seconds=max_seconds,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.formulation = formulation
        self.class_weight = class_weight

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        if privileged is not None and self.formulation == "joint":
            raise InputError(
                "Privileged features need formulation='separate': the common SVM of 'joint' has "
                "no place for them."
            )
        class_weights = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=weight
        )
        weight = weight * class_weights[codes]
        if len(self.classes_) == 2:
            positives = [("", codes == 1)]
        else:
            positives = [(f"class {str(c)!r}", codes == k) for k, c in enumerate(self.classes_)]
        return [
            Subproblem(
                name, [ClassificationData(X, np.where(positive, 1.0, -1.0), weight, privileged)]
            )
            for name, positive in positives
        ]

    @property
    def _formulation(self) -> Formulation:
        return FORMULATIONS[self.formulation]

    def decision_function(self, X: Any) -> Matrix:
        """Signed distance of each row from the baseline's hyperplane, up to its norm.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]``; with more than two classes, one column each.
        """
        return self._values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, by the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        codes = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def witness(
        self, feature: int | str, bound: Literal["lower", "upper"], *, label: Any = None
    ) -> LinearModel:
        """The model that attains a bound: the proof that the weight can be as small, or as large.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` had names.
        bound : {"lower", "upper"}
            Which end of the feature's ``interval_``.
        label : object, default=None
            With more than two classes, the class against the rest; by default the one whose
            bound is the feature's bound over all.

        Returns
        -------
        LinearModel
            On the scale solved on; its ``decision_function`` takes tables as ``fit`` does.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_strong=1, n_weak=2, n_irrelevant=0, random_state=0)
        >>> bounds = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y)
        >>> without_second = bounds.witness(1, "lower")
        >>> float(abs(without_second.coef_[1]))
        0.0
        """
        index, side = self._checked(feature, bound)
        subproblems = self._result.subproblems
        if label is None:
            place = int(np.argmax([bounds.interval[index, side] for bounds in subproblems]))
        else:
            (classes,) = np.nonzero(self.classes_ == label)
            if len(classes) == 0:
                raise InputError(f"No class {label!r}; the classes are {self.classes_.tolist()}.")
            place = int(classes[0]) if len(subproblems) > 1 else 0
        return subproblems[place].witness(index, side)

    def _subproblem_records(self) -> list[dict[str, Any]]:
        records = super()._subproblem_records()
        if hasattr(self, "cv_score_"):  # only if C was chosen by it
            for record, score in zip(records, np.atleast_1d(self.cv_score_).tolist(), strict=True):
                record["cv_accuracy"] = score
        return records

    def _document_parts(self) -> dict[str, Any]:
        found = self.risk_bound()
        bounds = found if isinstance(found, list) else [found]
        return {"risk_bound": [bound.to_dict() for bound in bounds]}

    def risk_bound(self, failure_probability: float = 0.05) -> RiskBound | list[RiskBound]:
        """What norm and loss promise on new data, for the baseline and for all equivalent models.

        The bound is loose: on small tables usually above 1, which says nothing. What is worth
        knowing even then is how little the slack of the set adds to it.

        Parameters
        ----------
        failure_probability : float, default=0.05
            Probability that the bound fails, between 0 and 1.

        Returns
        -------
        RiskBound or list of RiskBound
            With more than two classes, one of each class against the rest. Each fails with
            probability ``failure_probability`` for itself.

        Examples
        --------
        >>> from allrelevant import ClassificationBounds
        >>> from allrelevant.datasets import make_linear_classification
        >>> data = make_linear_classification(
        ...     n_samples=4000, n_strong=1, n_weak=2, n_irrelevant=0, random_state=0)
        >>> bounds = ClassificationBounds(C=0.001, cutoff=0.1).fit(data.X, data.y)
        >>> print(bounds.risk_bound())
        Upper bound on the error rate for new data, with probability 0.95:
          baseline 0.733 (loss 0.383, weights 0.306, offset 0.001, confidence 0.043)
          every equivalent model 0.802 (0.070 more)
        The baseline's error rate on the training rows is 1.1%.
        Such bounds are loose; the true error rate is probably much smaller. Covering all \
equivalent models adds 10% to the bound for the baseline.
        """
        check_is_fitted(self)
        bounds = [risk_bound(sub, failure_probability) for sub in self._result.subproblems]
        return bounds[0] if len(bounds) == 1 else bounds
