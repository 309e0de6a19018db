"""Linear classification: binary, or one-vs-rest with more than two classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from .._params import (
    AUTO,
    CUTOFF,
    CV,
    FDR_LEVEL,
    FORMULATION,
    FPR,
    LOSS_SLACK,
    LOSS_TOL,
    N_PROBES,
    NORM_SLACK,
    TOL,
    CutoffName,
    FormulationName,
)
from .._typing import Matrix, Table, Vector
from .._validation import check_class_weights, check_labels, encode_classes
from ..exceptions import InputError
from ..tables.target import class_labels
from ._base import RelevanceBounds
from .baseline import FORMULATIONS, Formulation
from .models import LinearModel
from .predictors import BinaryClassifier
from .programs.hinge import HingeRows, Requirements, signed_table
from .proof_table import class_codes
from .risk import RiskBound, risk_bound
from .task import CLASS_WORDING, Subproblem, Task, TaskData, majority_fraction


@dataclass(frozen=True)
class ClassificationData(TaskData):
    """Data of a binary classification problem; ``y`` is -1 or +1.

    ``labels`` are the labels of both classes in ``y``, for scikit-learn scorers.
    """

    labels: NDArray[Any] = field(default_factory=lambda: np.arange(2), kw_only=True)

    def requirements(self) -> Requirements:
        """Return the constraints ``y (w . x + offset) >= 1``, one per sample."""
        rows = HingeRows(
            table=signed_table(self.y, self.X),
            offset_table=self.y[:, None],
            target=np.ones(self.n_samples),
            weight=self.weight,
        )
        return Requirements(rows, np.arange(self.n_samples))

    def score(self, model: LinearModel) -> float:
        """Return the weighted accuracy of a model on these samples."""
        correct = (model.decision_function(self.X) > 0) == (self.y > 0)
        return float(correct @ self.weight / self.weight.sum())

    def predictor(self, model: LinearModel) -> BinaryClassifier:
        return BinaryClassifier(self.labels, model)

    def proof_coding(self, cells: Sequence[Any]) -> dict[str, Any]:
        return class_codes(cells, self.y)

    def observed(self) -> NDArray[Any]:
        return self.labels[(self.y > 0).astype(int)]


CLASSIFICATION = Task("classification", class_labels, majority_fraction, CLASS_WORDING)


class ClassificationBounds(ClassifierMixin, RelevanceBounds):
    """Relevance bounds for linear classification.

    ``fit`` trains a baseline classifier. All linear classifiers whose norm (sum of absolute
    weights) and hinge loss are within the slack of the baseline's are *equivalent models* (a
    Rashomon set). For each feature, two linear programs find its smallest and largest weight over
    the equivalent models. Permuted copies of the table show how much evidence of relevance noise
    can produce. A feature with more evidence is

    - *strongly relevant* if every equivalent model uses it,
    - *weakly relevant* if only some equivalent models use it, because others can replace it.

    A feature without more evidence than noise is *unconfirmed* if every equivalent model uses it,
    and *irrelevant* otherwise.

    Parameters
    ----------
    C : float or "cv", default="cv"
        Weight of the loss relative to the norm. Larger values fit the training data more closely.
        ``"cv"`` chooses the best value of a grid by cross-validation, separately for each class.
    Cs : array-like of shape (n_values,), default=None
        Values of C that cross-validation compares. By default, eight values that suit the total
        sample weight. Used with ``C="cv"``, also for the permuted tables of ``cutoff="fdr"``.
    cv : int, splitter, iterable or None, default=None
        Folds of cross-validation: a number of folds, a scikit-learn splitter, or (train, test)
        pairs of row indices. A number gives shuffled folds, stratified by class, that keep groups
        together; a splitter receives the target and the groups. None means 5 folds. The same folds
        are used for the scores of ``cheapest`` and ``sufficiency``.
    scoring : str, callable or None, default=None
        Score by which C is chosen: the name of a scikit-learn scorer, such as
        ``"balanced_accuracy"``, or a callable ``scorer(estimator, X, y)``. The estimator has no
        probabilities. With more than two classes, the scorer is applied to each one-vs-rest
        problem, with labels 1 for the class and 0 for the rest, and it must also accept
        predictions of all classes. None means accuracy, with class weights.
    norm_slack : float, default=0.1
        Relative slack of the norm: the norm of an equivalent model is at most
        ``1 + norm_slack`` times the baseline's. More slack makes the intervals wider.
    loss_slack : float, default=0.05
        Relative slack of the loss.
    loss_tol : float, default=1e-6
        Absolute slack of the loss. It matters if the classes are separable: the loss of the
        baseline is then zero, and a relative slack has no effect.
    formulation : {"separate", "joint"}, default="separate"
        ``"separate"`` bounds norm and loss separately, with an l1-regularized SVM as the baseline.
        ``"joint"`` bounds the norm plus C times the loss, with a standard (l2) SVM as the baseline.
    standardize : bool, default=True
        Whether to scale each feature to variance 1 (and mean 0, unless ``X`` is sparse). Weights
        are comparable only between features on the same scale, so use False only if all features
        are on the same scale already.
    categorical : sequence of int or str, default=None
        Numeric columns that contain codes of categories, by index or name. Text and categorical
        columns of data frames are always categories. A category is one feature. Its size is the
        difference between the largest and the smallest weight of its levels.
    curves : int or None, default=None
        If given, each number is cut into this many bins at its quantiles, and its size is the range
        of the resulting curve. This finds nonlinear relations.
    terms : dict, default=None
        Columns that form one feature: a dict from the name of the feature to its columns. Indicator
        columns of one category are treated like the category; the size of other groups is the sum
        of the absolute weights.
    class_weight : dict, "balanced" or None, default=None
        Weight of the loss of each class; ``"balanced"`` gives all classes the same total weight.
    cutoff : "fdr", "probes" or float, default="fdr"
        Rule that decides which features are relevant. ``"fdr"`` tests each feature against permuted
        copies of the whole table and controls the false discovery rate. If a permutation test of
        the whole table finds no evidence at level 0.05, no feature is relevant. A relevant feature
        is strong if its lower bound is positive. ``"probes"`` is the rule of the papers: it
        estimates a cutoff for the upper bound, and one for the lower bound of strong features, from
        randomly permuted copies of single columns. It is faster, but not calibrated. For tables
        with more features than samples, ``"fdr"`` uses the cutoffs of ``"probes"`` after the test
        of the whole table. A number is the cutoff of both bounds.
    fdr : float, default=0.05
        False discovery rate of ``cutoff="fdr"``: the expected fraction of irrelevant features among
        the relevant ones.
    n_probes : int, default=50
        Number of probes of ``cutoff="probes"``.
    fpr : float, default=1e-6
        Nominal probability that an irrelevant feature exceeds the cutoff. It assumes normally
        distributed bounds; the actual distribution has heavier tails, hence the small default.
    tol : float, default=1e-4
        Largest gap between a bound and its certificate, as a fraction of the norm (see ``gap_``).
        It matters for tables with thousands of rows, which are solved by an interior-point method;
        the bounds of smaller tables are exact up to rounding. Relevance classes do not depend on
        it: bounds that are too close to a decision are computed to ``1e-9``, the smallest
        tolerance.
    screen : bool or "auto", default="auto"
        If False, compute exact bounds for all features. If True, skip features that are already
        certified irrelevant and report a certified outer bound for them (see ``exact_``). The
        relevance classes are the same. ``"auto"`` screens tables with more than 2,000 features.
    max_seconds : float or None, default=None
        Time limit of ``fit``, for the choice of C, the tests and the bounds. Warnings state what
        was not reached. Features with the largest certified bounds are solved first. Features not
        solved in time keep their certified outer bounds, which are not tight (see ``exact_`` and
        ``gap_``). None means no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of the cross-validation folds and of the permutations.
    n_jobs : int or None, default=None
        Number of worker processes (-1: all cores). Does not change the result.
    verbose : int, default=0
        If positive, show progress bars.

    Attributes
    ----------
    interval_ : ndarray of shape (n_features, 2)
        Relevance interval of each feature: smallest and largest absolute weight, on the scaled
        features. With more than two classes, the maximum of each bound over the classes.
    signed_interval_ : ndarray of shape (n_features, 2)
        Signed range of each feature: smallest and largest weight, over all classes.
    relevance_ : ndarray of shape (n_features,)
        Relevance class of each feature: ``"strong"``, ``"weak"``, ``"unconfirmed"`` or
        ``"irrelevant"``. With more than two classes, the strongest over the classes.
    pvalue_ : ndarray of shape (n_features,)
        P-value of each feature: how often noise shows at least as much evidence of relevance. With
        more than two classes, the smallest over the classes, adjusted for their number. NaN if the
        feature was not tested.
    qvalue_ : ndarray of shape (n_features,)
        Smallest false discovery rate at which each feature is relevant. NaN if the feature was not
        tested.
    table_pvalue_ : float
        P-value of the hypothesis that the target is independent of all features.
    rule_ : {"fdr", "probes", "fixed", "untested"}
        Rule that was used; it differs from ``cutoff`` if there are more features than samples.
    gap_ : ndarray of shape (n_features, 2)
        Largest possible error of each bound in ``interval_``, from dual certificates.
    exact_ : ndarray of shape (n_features,)
        True where an equivalent model attains each bound, up to ``gap_``. False where ``interval_``
        is a certified outer bound, because the feature was screened or time ran out; ``gap_`` then
        limits the distance to the exact bound.
    cutoff_ : ndarray of shape (2,) or (n_classes, 2)
        Cutoffs of the lower bound (for strong) and of the upper bound (for relevant); with more
        than two classes, one pair per class. With ``rule_="fdr"``, the second value is not a
        cutoff: it is the weight that permuted columns exceed with probability ``fdr``.
    baseline_ : LinearModel or LinearModels
        Baseline model, with ``coef_``, ``intercept_``, ``norm_``, ``loss_`` and ``C_`` for the
        scaled features. With more than two classes, each has a leading axis of length
        ``n_classes``.
    cv_score_ : float or ndarray of shape (n_classes,)
        Cross-validated accuracy of the baseline, or its score by ``scoring``; with more than two
        classes, of each one-vs-rest baseline. Only with ``C="cv"``. Slightly optimistic, because C
        was chosen to maximize it.
    class_interval_ : ndarray of shape (n_problems, n_features, 2)
        Relevance intervals of each one-vs-rest problem; two classes are a single problem.
    class_relevance_ : ndarray of shape (n_problems, n_features)
        Relevance class of each feature in each one-vs-rest problem.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if all column names of ``X`` are strings.
    privileged_interval_, privileged_signed_interval_, privileged_relevance_, privileged_gap_, \
privileged_exact_, privileged_cutoff_, privileged_pvalue_, privileged_qvalue_, \
privileged_table_pvalue_
        The same attributes for the privileged features, if there are any.

    References
    ----------
    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018 (``formulation="separate"``).

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear
    classification", ESANN 2017 (``formulation="joint"``).

    Examples
    --------
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=2, random_state=3)
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
        Cs: ArrayLike | None = None,
        cv: Any = None,
        scoring: Any = None,
        norm_slack: float = NORM_SLACK,
        loss_slack: float = LOSS_SLACK,
        loss_tol: float = LOSS_TOL,
        formulation: FormulationName = FORMULATION,
        standardize: bool = True,
        categorical: Sequence[int | str] | None = None,
        curves: int | None = None,
        terms: Mapping[str, Sequence[int | str]] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
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
        self.formulation = formulation
        self.class_weight = class_weight

    def _subproblems(
        self, X: Table, y: NDArray[Any], weight: Vector, privileged: Table | None
    ) -> list[Subproblem]:
        check_labels(y)
        self.classes_, codes = encode_classes(y)
        if privileged is not None and self.formulation == "joint":
            raise InputError(
                "formulation='joint' does not support privileged features. Use "
                "formulation='separate'."
            )
        if isinstance(self.class_weight, Mapping):
            class_weights = check_class_weights(self.class_weight, self.classes_)
        else:
            class_weights = compute_class_weight(
                self.class_weight, classes=self.classes_, y=y, sample_weight=weight
            )
        weight = weight * class_weights[codes]

        def one_vs_rest(name: str, code: int, **labels: Any) -> Subproblem:
            signs = np.where(codes == code, 1.0, -1.0)
            return Subproblem(name, [ClassificationData(X, signs, weight, privileged, **labels)])

        if len(self.classes_) == 2:
            return [one_vs_rest("", 1, labels=self.classes_)]
        return [one_vs_rest(f"class {str(c)!r}", k) for k, c in enumerate(self.classes_)]

    @property
    def _formulation(self) -> Formulation:
        return FORMULATIONS[self.formulation]

    def decision_function(self, X: Any) -> Matrix:
        """Compute the decision values of the baseline for each sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values, positive for ``classes_[1]``; with more than two classes, one column
            per class.
        """
        return self._values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample with the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        decision = self.decision_function(X)
        codes = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def witness(
        self, feature: int | str, bound: Literal["lower", "upper"], *, label: Any = None
    ) -> LinearModel:
        """Return a witness: an equivalent model that attains a bound of a feature.

        Parameters
        ----------
        feature : int or str
            Index of the feature, or its name if ``X`` has column names. Indices of privileged
            features follow those of ``X``.
        bound : {"lower", "upper"}
            End of the feature's ``interval_``.
        label : object, default=None
            With more than two classes, the class of the one-vs-rest problem; by default the class
            that attains the bound in ``interval_``.

        Returns
        -------
        LinearModel
            Witness of the bound. Its weights are for scaled features; its ``decision_function``
            accepts unscaled tables, as ``fit`` does.

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
                raise InputError(
                    f"label={label!r} is not a class of the target. Use one of "
                    f"{self.classes_.tolist()}."
                )
            place = int(classes[0]) if len(subproblems) > 1 else 0
        return subproblems[place].witness(index, side)

    def _subproblem_records(self) -> list[dict[str, Any]]:
        records = super()._subproblem_records()
        key = "cv_accuracy" if self._score_name == self.task.wording.score else "cv_score"
        if hasattr(self, "cv_score_"):  # set only if C was chosen by cross-validation
            for record, score in zip(records, np.atleast_1d(self.cv_score_).tolist(), strict=True):
                record[key] = score
        return records

    def _document_parts(self) -> dict[str, Any]:
        risk = self.risk_bound()
        bounds = risk if isinstance(risk, list) else [risk]
        return {"risk_bound": [bound.to_dict() for bound in bounds]}

    def risk_bound(self, failure_probability: float = 0.05) -> RiskBound | list[RiskBound]:
        """Bound the error rate on new data, for the baseline and for all equivalent models.

        The bound is loose. On small tables it is usually above 1 and thus says nothing about the
        error itself, but it still shows how little the slack adds to the bound of the baseline.

        Parameters
        ----------
        failure_probability : float, default=0.05
            Probability that the bound does not hold, between 0 and 1.

        Returns
        -------
        RiskBound or list of RiskBound
            Bound on the error rate; with more than two classes, one per one-vs-rest problem. The
            failure probability applies to each of them separately.

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
