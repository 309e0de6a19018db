"""Base class of the SVM selectors: common parameters, validation, attributes and plot."""

from __future__ import annotations

import os
from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._optional import display, import_extra
from .._params import (
    MAX_DEGREE,
    MAX_NUMBER,
    MAX_SVM_TOL,
    MIN_NUMBER,
    SUBSET_RULE,
    KernelName,
    SubsetRule,
)
from .._typing import Rows, Table, Vector
from .._validation import (
    MAX_SIZE,
    MAX_UNSCALED,
    N_JOBS,
    POSITIVE,
    check_groups,
    check_labels,
    check_weights,
    encode_classes,
    feature_names,
    is_continuous,
)
from ..checkpoints import Checkpoint, fingerprint, open_checkpoint
from ..exceptions import InputError
from ..resampling import Labels, draw_seeds
from ..subsets import ScoredPath, scorer_name
from ..terms.encoding import EncodingOptions
from ..terms.layout import WeightLayout
from ..terms.selecting import TableSelectorMixin
from ..terms.validation import read_features
from .kernels import KERNELS
from .run import SVMSettings
from .scoring import BALANCED_ACCURACY, make_scorer
from .svm import CLASS_WEIGHTS, resolve_class_weight

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd

    from ..plots import EliminationDisplay

# Parameters that do not affect the steps of a run. The folds themselves are in the fingerprint.
NOT_IN_FINGERPRINT = ("n_features_to_select", "selector", "cv", "nested_cv")


class SVMSelector(ScoredPath, TableSelectorMixin, BaseEstimator):
    """Base class of feature selectors that train SVMs."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNELS))],
        "C": [POSITIVE, "array-like"],
        "gamma": [POSITIVE, StrOptions({"auto"})],
        "degree": [Interval(Integral, 1, MAX_DEGREE, closed="both")],
        "coef0": [Interval(Real, -MAX_NUMBER, MAX_NUMBER, closed="both")],
        "class_weight": [dict, StrOptions(set(CLASS_WEIGHTS)), None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "standardize": ["boolean"],
        "repeat_in_folds": ["boolean"],
        "random_state": ["random_state"],
        "tol": [Interval(Real, MIN_NUMBER, MAX_SVM_TOL, closed="both")],
        "checkpoint": [str, os.PathLike, None],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    n_features_in_: int
    support_: NDArray[np.bool_]
    ranking_: NDArray[np.int64]
    n_features_: int

    # Assignment of the columns of numbers to features.
    _layout: WeightLayout
    _has_encoding: bool

    # Set by the constructors of the subclasses.
    kernel: KernelName
    C: float | ArrayLike
    gamma: float | Literal["auto"]
    degree: int
    coef0: float
    class_weight: Any
    cv: Any
    scoring: Any
    standardize: bool
    repeat_in_folds: bool
    random_state: Any
    tol: float
    checkpoint: str | os.PathLike[str] | None
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def select(self, n_features_to_select: SubsetRule | int = SUBSET_RULE) -> Self:
        """Select a subset by a different rule or size, without refitting."""

    @abstractmethod
    def _history_rows(self, names: list[str]) -> list[dict[str, Any]]:
        """Return one dict per visited subset, used as the rows of ``history_``."""

    @property
    def history_(self) -> pd.DataFrame:
        """DataFrame with one row per visited subset: changed features, score, C and time."""
        check_is_fitted(self)
        pandas = import_extra("pandas", "pandas")

        return pandas.DataFrame(self._history_rows(feature_names(self)))

    def plot(self, **kwargs: Any) -> EliminationDisplay:
        """Plot the score against the number of features.

        Parameters
        ----------
        **kwargs
            Parameters of :meth:`EliminationDisplay.from_estimator`.

        Returns
        -------
        EliminationDisplay
        """
        return display("EliminationDisplay").from_estimator(self, **kwargs)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        # Data frames may have missing values; arrays of numbers may not.
        tags.input_tags.allow_nan = getattr(self, "_has_encoding", False)
        return tags

    def _validate(
        self, X: Any, y: Any, groups: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[Table, Labels]:
        """Return the columns of numbers and the target of the rows; see ``_layout``."""
        self._validate_params()
        table, y = read_features(
            self,
            X,
            y,
            EncodingOptions(),
            y_numeric=False,
            min_samples=2,
            max_size=MAX_SIZE if self.standardize else MAX_UNSCALED,
            ensure_min_features=2,
        )
        X, self._layout, self._has_encoding = table.values, table.layout, table.encoding is not None
        if self._has_encoding:
            table.warn_notes()
        _check_classes(type(self).__name__, y)
        self.classes_, codes = encode_classes(y)
        self.scoring_ = scorer_name(self.scoring, BALANCED_ACCURACY)
        return (
            sp.csr_array(X) if sp.issparse(X) else X,
            Labels(
                self.classes_,
                codes.astype(np.int64),
                check_groups(groups, len(y)),
                check_weights(sample_weight, len(y)),
            ),
        )

    def _seed(self) -> int:
        """Return the seed that shuffles the folds.

        A resumed run needs the same folds, so the default with a checkpoint is a fixed seed.
        """
        if self.random_state is None and self.checkpoint is not None:
            return 0
        return draw_seeds(self.random_state, 1)[0]

    def _svm_settings(self, labels: Labels) -> SVMSettings:
        gamma = None if self.gamma == "auto" else float(self.gamma)
        return SVMSettings(
            kernel=KERNELS[self.kernel](gamma, int(self.degree), float(self.coef0)),
            costs=self._costs(),
            class_weight=resolve_class_weight(self.class_weight, labels.classes),
            tol=float(self.tol),
            scorer=make_scorer(self.scoring, labels),
            n_jobs=self.n_jobs,
        )

    def _costs(self) -> Vector:
        costs = np.unique(np.atleast_1d(np.asarray(self.C, dtype=np.float64)))
        if costs.ndim != 1 or len(costs) == 0 or not ((costs > 0) & (costs <= MAX_NUMBER)).all():
            raise InputError(
                f"C must be a positive number of at most {MAX_NUMBER:g}, or an array of such "
                f"numbers (got {self.C!r})."
            )
        return costs

    def _open_checkpoint(
        self, X: Table, labels: Labels, folds: list[Rows], *data: Any
    ) -> AbstractContextManager[Checkpoint]:
        return open_checkpoint(
            self,
            X,
            labels.codes,
            labels.classes,
            *data,
            *(() if labels.weight is None else (labels.weight,)),
            *((self._layout.widths,) if self._layout.blocks else ()),
            path=self.checkpoint,
            ignore=NOT_IN_FINGERPRINT,
            extra={"folds (a cv that shuffles needs a random_state)": fingerprint(*folds)},
        )


def _check_classes(name: str, y: NDArray[Any]) -> None:
    """Raise if the target does not contain classes."""
    if is_continuous(y):
        raise InputError(
            f"{name} requires classes, but the target contains fractions, which are continuous "
            "numbers. To predict numbers, use SaliencySelector(SVR(kernel='linear'))."
        )
    check_labels(y)
