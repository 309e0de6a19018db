"""`SaliencySelector`: selection of the features that correct predictions depend on most."""

from __future__ import annotations

import os
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._optional import import_extra
from .._params import (
    AUTO,
    CV_FOLDS,
    KEEP_FRACTION,
    MIN_FEATURES_TO_SELECT,
    SUBSET_RULE,
    SUBSET_RULES,
    SubsetRule,
)
from .._typing import Table, Vector
from .._validation import (
    COUNT,
    FRACTION,
    MAX_SIZE,
    MAX_UNSCALED,
    N_JOBS,
    REPEATS,
    check_groups,
    check_labels,
    check_numeric_target,
    check_varying,
    check_weights,
    encode_classes,
    feature_names,
    resolve_n_features,
    warn_constant_columns,
)
from ..checkpoints import fingerprint, open_checkpoint
from ..exceptions import InputError
from ..resampling import Labels, cv_splits, warn_rare_class
from ..subsets import NO_SCORES, ScoredPath, resolve_scorer, scorer_name
from ..terms.encoding import EncodingOptions
from ..terms.layout import WeightLayout
from ..terms.scaling import constant_features, deviations
from ..terms.selecting import TableSelectorMixin
from ..terms.validation import read_features, read_new_rows, validate_table
from .differentiable import as_differentiable, row_labels
from .encoded import EncodedRows
from .explanation import Explanation, ExplanationTarget, explain_rows
from .gains import Gain, Targets
from .paths import SaliencyPaths, scaled_table
from .rounds import ColumnMasking, DropColumns, TrainingTask, ZeroColumns
from .trainers import (
    check_weighted_training,
    declares,
    derive_seed,
    draw_entropy,
    hash_initial_weights,
    predicts_classes,
    report_training_errors,
    requires_all_columns,
    trainer_for,
    trains_at_random,
    with_scaler,
)

if TYPE_CHECKING:
    import pandas as pd


# Settings that do not affect the rounds.
NOT_IN_FINGERPRINT = ("n_features_to_select", "cv")

# With n_repeats="auto", number of models per round if training is random.
N_RANDOM_REPEATS = 3


class SaliencySelector(ScoredPath, TableSelectorMixin, BaseEstimator):
    """Saliency-based feature selection (Cancela et al. 2020) for differentiable models.

    Each round trains a model and differentiates a gain function with respect to the inputs. The
    gain is large if a prediction is correct. The gradients, summed over the rows, rank the
    features. The least salient features are removed, and the next round starts. The number of
    features to select is chosen by cross-validation, with the rounds repeated on the training rows
    of each fold. If the number is given, no cross-validation is run.

    Parameters
    ----------
    estimator : estimator, str or nn.Module
        Model to train: a scikit-learn SVM, linear model or MLP, a pipeline of scalers that ends in
        one of these, a PyTorch module, a skorch net, or an estimator that has the methods
        ``outputs`` and ``vjp`` after fitting. ``"mlp"``, ``"cnn"`` and ``"wrn-16-4"`` are
        predefined networks. They are trained for regression if the target contains fractions or
        more than 20 distinct numbers, and for classification otherwise.
    keep_fraction : float, default=0.9
        Fraction of features kept per round. Zero means a single round.
    n_repeats : int or "auto", default="auto"
        Number of models trained per round, each with a different seed and weighted by its training
        score. ``"auto"`` means 3 for neural networks, whose training is random, and 1 for others.
    min_features_to_select : int, default=1
        Number of features at which the rounds stop. Every round after the first uses more features.
    n_features_to_select : {"best", "smallest_best", "one_se"}, int or float, default="best"
        Selection rule, as in :class:`SVMRFE`, or number of features to select, or a fraction if
        below 1. The ranking does not depend on this parameter.
    cv : int, splitter, iterable or None, default=5
        Cross-validation of subsets, as in :class:`SVMRFE`. It is not used if
        ``n_features_to_select`` is a number. With None, this must be the case.
    scoring : str, callable or None, default=None
        Scorer as in scikit-learn, called with the trained model and the remaining columns. None
        means balanced accuracy, or R2 for numeric targets.
    gain : Gain or None, default=None
        Gain function to differentiate. None uses the gain that matches the loss of the model.
    standardize : bool, default=True
        Whether to scale features to mean 0 and variance 1 before each training, and to measure
        saliency per standard deviation of a feature instead of per unit. Sparse tables are not
        centered. Use False for images, so that all pixels keep a common scale.
    balanced : bool, default=True
        Whether to repeat rows of rare classes in training so that all classes are equally frequent.
        In the sum over rows, each class always has the same weight.
    keep_shape : bool or "auto", default="auto"
        Whether to set inactive features to zero instead of dropping them, for models with a fixed
        number of inputs, such as image networks. ``"auto"`` uses the ``requires_all_columns``
        attribute of the estimator.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of all trained models and of the folds. It overrides the
        ``random_state`` of the estimator. If None, seeds are derived from the ``random_state`` of
        the estimator, if set.
    checkpoint : path or None, default=None
        File that is updated after every round. An interrupted run resumes from it and gives exactly
        the same result. ``fit`` raises an error if the file belongs to different data or settings.
        Functions are compared by name and content, and a RandomState by its state, which a run
        changes. Verbosity, threads and devices may differ.
    n_jobs : int or None, default=None
        Number of worker processes for folds; without folds, for the repetitions of a round. Does
        not change the result.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Ranks without ties, 1 for the most relevant feature. They are determined by the last round
        in which each feature was active.
    importances_ : ndarray of shape (n_features,)
        Saliency of each feature in that round, as a fraction of the total.
    support_ : ndarray of bool of shape (n_features,)
        Boolean mask of the selected features.
    n_features_ : int
        Number of selected features.
    scores_, score_errors_, fold_scores_, n_subset_features_, best_score_, held_out_score_, \
scoring_
        Scores of the subsets, as in :class:`SVMRFE`. Not available or empty if the number of
        features was given. The ranking was repeated in each fold (``optimistic_`` is False).
    history_ : pandas.DataFrame
        One row per round: features, saliency, features dropped afterwards, training scores and
        times.
    estimator_ : estimator
        Model trained on the features selected by ``fit``, which :meth:`explain` explains. With
        ``standardize``, it is a pipeline of a ``StandardScaler`` and the model. For a skorch net,
        the ``net_`` of the model is the trained net.
    classes_ : ndarray
        Class labels; only for classification.
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import SVC
    >>> from allrelevant import SaliencySelector
    >>> X, y = make_classification(
    ...     200, 20, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    >>> selector = SaliencySelector(SVC(), n_features_to_select=3).fit(X, y)
    >>> sorted(selector.get_support(indices=True).tolist())
    [0, 1, 2]
    >>> selector.select(5).transform(X).shape
    (200, 5)
    >>> selector.explain(X[:4], y[:4]).saliency.shape
    (4, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit"), str, callable],
        "keep_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_repeats": [REPEATS, StrOptions({"auto"})],
        "min_features_to_select": [COUNT],
        "n_features_to_select": [COUNT, FRACTION, StrOptions(set(SUBSET_RULES))],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "gain": [HasMethods(["value", "gradient"]), None],
        "standardize": ["boolean"],
        "balanced": ["boolean"],
        "keep_shape": ["boolean", StrOptions({"auto"})],
        "random_state": ["random_state"],
        "checkpoint": [str, os.PathLike, None],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    n_features_in_: int
    classes_: NDArray[Any]
    support_: NDArray[np.bool_]
    ranking_: NDArray[np.int64]
    importances_: Vector

    # Assignment of the columns of numbers to features.
    _layout: WeightLayout
    _encoded: EncodedRows | None

    def __init__(
        self,
        estimator: Any,
        *,
        keep_fraction: float = KEEP_FRACTION,
        n_repeats: int | Literal["auto"] = AUTO,
        min_features_to_select: int = MIN_FEATURES_TO_SELECT,
        n_features_to_select: SubsetRule | float = SUBSET_RULE,
        cv: Any = CV_FOLDS,
        scoring: Any = None,
        gain: Gain | None = None,
        standardize: bool = True,
        balanced: bool = True,
        keep_shape: bool | Literal["auto"] = "auto",
        random_state: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.keep_fraction = keep_fraction
        self.n_repeats = n_repeats
        self.min_features_to_select = min_features_to_select
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.gain = gain
        self.standardize = standardize
        self.balanced = balanced
        self.keep_shape = keep_shape
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Rank the features by saliency and select the highest-ranked ones.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data frames may contain text, categories, booleans and missing values. A category, or a
            number with missing values, is ranked and selected as a whole.
        y : array-like of shape (n_samples,)
            Class labels or numeric targets.
        groups : array-like of shape (n_samples,), default=None
            Group labels of the rows. Rows of the same group are never split between training and
            test rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in training, in saliency and in scores. A row with weight 2 counts
            like two rows. The ``fit`` method of the estimator must accept them; networks do not.

        Returns
        -------
        self
        """
        X, y, weight = self._validate(X, y, sample_weight)
        by_rule = isinstance(self.n_features_to_select, str)
        if not by_rule:
            resolve_n_features(self.n_features_to_select, self.n_features_in_)
        elif self.cv is None:
            raise InputError(NO_SCORES.format(rule=self.n_features_to_select))
        task = self._training_task(y, self._layout, weight, center=not sp.issparse(X))
        labels = Labels(
            getattr(self, "classes_", np.empty(0)),
            task.targets,
            check_groups(groups, len(y)),
        )
        self._warn_constant_columns(
            scaled_table(X, self._layout, weight=weight, standardize=bool(self.standardize))
        )
        identity = {
            "type of estimator": type(self.estimator).__name__,
            "weights at the start": hash_initial_weights(self.estimator),
            "row groups": "" if labels.row_groups is None else fingerprint(labels.row_groups),
            **({} if weight is None else {"row weights": fingerprint(weight)}),
        }
        with open_checkpoint(
            self, X, y, path=self.checkpoint, ignore=NOT_IN_FINGERPRINT, extra=identity
        ) as checkpoint:
            # A resumed run derives its seeds from the same entropy.
            entropy = checkpoint.series("rounds").state().get("entropy")
            if entropy is None:
                entropy = draw_entropy(self.random_state, self.estimator)
            paths = SaliencyPaths(
                task,
                X,
                bool(self.standardize),
                float(self.keep_fraction),
                int(self.min_features_to_select),
                self._n_repeats(task),
                entropy,
                self.n_jobs,
            )
            folds = []
            if by_rule:
                warn_rare_class(labels, self.cv)
                folds = cv_splits(self.cv, labels, labels.rows, seed=derive_seed(entropy))
            title = type(self).__name__ if self.verbose else None
            self._history, *in_folds = paths.run(folds, checkpoint, title)
        self.ranking_, self.importances_ = self._history.ranking, self._history.importances
        self.scoring_ = scorer_name(
            self.scoring, "r2" if task.n_classes is None else "balanced_accuracy"
        )
        self._path_scores = paths.scores(in_folds, folds)
        self._set_scores(self._path_scores.sizes, self._path_scores.scores, once=False)
        self.select(self.n_features_to_select)
        self._masking, self._explained_features = task.masking, np.flatnonzero(self.support_)
        # Tables with several columns per feature are scaled before training.
        per_column = self.standardize and not self._layout.blocks
        self._units = deviations(X, weight) if per_column else None
        with report_training_errors(f"Training failed on the {self.n_features_} selected features"):
            self.estimator_ = task.train(
                task.masking.reduce(paths.scaled(), self._explained_features),
                derive_seed(entropy, len(self._history.rounds)),
            )
            self._gain = task.gain_for(as_differentiable(self.estimator_))
        return self

    def _n_repeats(self, task: TrainingTask) -> int:
        if self.n_repeats != AUTO:
            return int(self.n_repeats)
        return N_RANDOM_REPEATS if trains_at_random(task.trainer) else 1

    def select(self, n_features: SubsetRule | float = SUBSET_RULE) -> Self:
        """Select a different number of features without refitting.

        Parameters
        ----------
        n_features : {"best", "smallest_best", "one_se"}, int or float, default="best"
            Rule or number of features, with the same meaning as ``n_features_to_select``.

        Returns
        -------
        self
            The selector with updated ``support_``, ``n_features_`` and ``held_out_score_``;
            ``estimator_`` is unchanged.
        """
        check_is_fitted(self, "ranking_")
        if n_features not in SUBSET_RULES:
            n_features = resolve_n_features(n_features, self.n_features_in_)
        self.support_ = self.ranking_ <= self._path_scores.choose(n_features)
        self.n_features_ = int(self.support_.sum())
        self._held_out = self._path_scores.held_out(n_features)
        return self

    def explain(self, X: Any, y: ArrayLike | None = None, *, target: Any = None) -> Explanation:
        """Explain individual predictions by the saliency of each feature.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to explain; they may differ from the training rows. Data frames may contain text,
            categories and missing values, as in ``fit``.
        y : array-like of shape (n_samples,), default=None
            True classes or numeric targets to explain. The saliency of a misclassified row is close
            to zero. By default, the prediction is explained.
        target : class label, default=None
            Class to explain for every row, instead of the true or predicted class.

        Returns
        -------
        Explanation
            Explanation of ``estimator_``. Features that were not selected by ``fit`` have saliency
            zero. With ``standardize``, saliency is per standard deviation of each feature. The
            saliency of a category is positive if the level of the row supports the target; see
            :class:`Explanation`.
        """
        check_is_fitted(self, "estimator_")
        index, encoded = row_labels(X), self._encoded
        if encoded is None:
            rows = features = validate_table(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
            )
        else:
            X = read_new_rows(self, X, encoded.encoding)
            rows = features = encoded.apply(X)
        model, selected = as_differentiable(self.estimator_), self._explained_features

        def explain_columns(rows: Table, request: ExplanationTarget) -> Explanation:
            return explain_rows(
                model,
                self._masking.reduce(rows, selected),
                request,
                classes=getattr(self, "classes_", None),
                names=feature_names(self),
                index=index,
            )

        request = ExplanationTarget(y, target, self._gain)
        explanation = explain_columns(rows, request)
        values = self._masking.expand(explanation.saliency, selected)
        values = values if self._units is None else values * self._units
        explanation = replace(explanation, saliency=values, features=features)
        if encoded is None:
            return explanation
        request = request.fixed(explanation)
        return encoded.combine(explanation, X, lambda rows: explain_columns(rows, request).gains)

    @property
    def history_(self) -> pd.DataFrame:
        """DataFrame with the features, saliency, scores and times of each round."""
        check_is_fitted(self, "ranking_")
        pandas = import_extra("pandas", "pandas")

        return pandas.DataFrame(self._history_rows(feature_names(self)))

    def _history_rows(self, names: list[str]) -> list[dict[str, Any]]:
        """Return one dict per round, used as the rows of ``history_``."""
        return self._history.rows(names)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        # Data frames may have missing values; arrays of numbers may not.
        tags.input_tags.allow_nan = getattr(self, "_encoded", None) is not None
        return tags

    def _validate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Table, NDArray[Any], Vector | None]:
        self._validate_params()
        table, y = read_features(
            self,
            X,
            y,
            EncodingOptions(),
            y_numeric=declares(is_regressor, self.estimator),
            min_samples=2,
            dtype=[np.float64, np.float32],
            max_size=MAX_SIZE if self.standardize else MAX_UNSCALED,
        )
        X, self._layout = table.values, table.layout
        weight = check_weights(sample_weight, X.shape[0])
        self._encoded = None
        if table.encoding is not None:
            table.warn_notes()
            self._encoded = EncodedRows.fit(
                table.encoding,
                X,
                standardize=bool(self.standardize),
                weight=weight,
                only_blocks=True,
            )
        if declares(is_classifier, self.estimator):
            check_labels(y)
        return sp.csr_array(X) if sp.issparse(X) else X, y, weight

    def _training_task(
        self,
        y: NDArray[Any],
        layout: WeightLayout,
        weight: Vector | None = None,
        *,
        center: bool = True,
    ) -> TrainingTask:
        classes = predicts_classes(self.estimator, y)
        trainer = trainer_for(self.estimator, classes=classes)
        if weight is not None:
            check_weighted_training(trainer)
        per_column = self.standardize and not layout.blocks
        if per_column:
            trainer = with_scaler(trainer, center=center)
        keep = requires_all_columns(trainer) if self.keep_shape == "auto" else self.keep_shape
        masking: ColumnMasking = (ZeroColumns if keep else DropColumns)(layout)
        self.__dict__.pop("classes_", None)  # left over from an earlier fit
        targets: Targets
        n_classes = None
        if classes:
            self.classes_, targets = encode_classes(y)
            n_classes = len(self.classes_)
        else:
            targets = check_numeric_target(y)
        return TrainingTask(
            y,
            targets,
            n_classes,
            trainer,
            masking,
            self.gain,
            bool(self.balanced),
            bool(per_column),
            None if self.scoring is None else resolve_scorer(self.scoring),
            weight,
        )

    def _warn_constant_columns(self, X: Table) -> None:
        """Warn about constant columns, which are ranked last; raise if all columns are constant.

        Without this rule, an unpenalized model might rank them high.
        """
        constant = constant_features(X, self._layout)
        check_varying(len(constant), self.n_features_in_)
        warn_constant_columns(feature_names(self), constant, "ranked last")
