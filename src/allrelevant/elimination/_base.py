"""What every selector over SVMs has in common: options, validation, the result and its figure."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._optional import display, import_extra
from .._typing import Matrix, Table, Vector
from .._validation import feature_names
from .._version import __version__
from ..checkpoints import CheckpointFile, fingerprint, run_settings
from ..exceptions import InputError, RelevanceWarning
from ..resampling import Labels
from .history import mean_scores
from .kernels import KERNELS
from .run import SVMSettings
from .scoring import make_scorer
from .svm import NAMED, resolve_class_weight

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import EliminationDisplay


# Settings that change nothing about what a run finds, or only how it is read afterwards.
_NOT_OF_THE_RUN = ("n_features_to_select", "selector", "cv", "nested_cv")


class SVMSelector(SelectorMixin, BaseEstimator):
    """Common part of the selectors."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNELS))],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [dict, StrOptions(set(NAMED)), None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "checkpoint": [str, os.PathLike, None],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "verbose": ["verbose"],
    }

    n_features_in_: int
    support_: NDArray[np.bool_]
    ranking_: NDArray[np.int64]
    scores_: Vector
    n_subset_features_: NDArray[np.int64]
    fold_scores_: Matrix

    # The constructor of each selector stores these.
    kernel: str
    C: float | ArrayLike
    gamma: float | Literal["auto"]
    degree: int
    coef0: float
    class_weight: Any
    cv: Any
    scoring: Any
    tol: float
    checkpoint: str | os.PathLike[str] | None
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def select(self, rule: Any = "best") -> Self:
        """Choose a subset of those that the fit came by, without another fit."""

    @property
    @abstractmethod
    def history_(self) -> pd.DataFrame:
        """What happened, step by step."""

    @property
    def best_score_(self) -> float:
        """The best of ``scores_``: too good to be true of new rows, for it was chosen."""
        check_is_fitted(self)
        if len(self.scores_) == 0:
            raise AttributeError("There are no scores with cv=None, so none is the best.")
        return float(self.scores_.max())

    def plot(self, **kwargs: Any) -> EliminationDisplay:
        """Draw the score against the number of features.

        Parameters
        ----------
        **kwargs
            Passed on to :meth:`EliminationDisplay.from_estimator`.

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
        return tags

    def _validated(self, X: Any, y: Any, groups: Any) -> tuple[Table, Labels]:
        """Data as the engine wants them; what cannot be used is refused in one line."""
        self._validate_params()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_features=2,
            ensure_min_samples=2,
        )
        self._require_finite(X)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"The target has a single class, {str(self.classes_[0])!r}: there is nothing to "
                "tell apart. At least two classes are needed."
            )
        if groups is not None:
            groups = column_or_1d(groups)
            check_consistent_length(y, groups)
        return (
            sp.csr_array(X) if sp.issparse(X) else X,
            Labels(self.classes_, codes.astype(np.int64), groups),
        )

    def _require_finite(self, X: Table) -> None:
        values = X.data if sp.issparse(X) else X
        for what, broken in (("NaN", np.isnan), ("infinite", np.isinf)):
            number = int(broken(values).sum())
            if number:
                found = broken(X.toarray() if sp.issparse(X) else X).any(axis=0)
                name = feature_names(self)[int(found.argmax())]
                raise InputError(
                    f"X has {number} value(s) that are {what}, first in feature {name!r}: fill "
                    "them in, or remove those rows or features. (NaN and infinity have no place "
                    "in a kernel.)"
                )

    def _warn_of_constant(self, features: list[int]) -> None:
        names = [repr(feature_names(self)[j]) for j in features[:10]]
        more = f" and {len(features) - 10} more" if len(features) > 10 else ""
        warnings.warn(
            f"{len(features)} constant column(s) cannot tell rows apart and are ranked last: "
            f"{', '.join(names)}{more}.",
            RelevanceWarning,
            stacklevel=4,
        )

    def _machinery(self, labels: Labels) -> SVMSettings:
        gamma = None if self.gamma == "auto" else float(self.gamma)
        return SVMSettings(
            kernel=KERNELS[self.kernel](gamma, int(self.degree), float(self.coef0)),
            costs=self._costs(),
            class_weight=resolve_class_weight(self.class_weight, labels.classes),
            tol=float(self.tol),
            score=make_scorer(self.scoring, labels),
            n_jobs=self.n_jobs,
        )

    def _costs(self) -> Vector:
        costs = np.unique(np.atleast_1d(np.asarray(self.C, dtype=np.float64)))
        if costs.ndim != 1 or len(costs) == 0 or not (np.isfinite(costs) & (costs > 0)).all():
            raise InputError(f"C must be a number above zero or several of them, got {self.C!r}.")
        return costs

    @contextmanager
    def _checkpoint_file(
        self, X: Table, labels: Labels, folds: list[Any], more: Any = ()
    ) -> Iterator[CheckpointFile | None]:
        """The checkpoint of this run, if it is to have one; opened before the long work starts."""
        if self.checkpoint is None:
            yield None
            return
        key = {
            "version": __version__,
            "method": type(self).__name__,
            "data": fingerprint(X, labels.codes, labels.classes, *more),
            "folds (a cv that shuffles needs a random_state)": fingerprint(*folds),
            **run_settings(self.get_params(deep=False), without=_NOT_OF_THE_RUN),
        }
        with CheckpointFile(self.checkpoint, key) as file:
            yield file

    def _keep_scores(self, sizes: NDArray[np.int64], fold_scores: Matrix) -> None:
        self.n_subset_features_ = sizes
        self.fold_scores_ = fold_scores
        self.scores_ = mean_scores(fold_scores) if fold_scores.shape[-1] else np.empty(0)

    def _frame(self, rows: list[dict[str, Any]]) -> pd.DataFrame:
        return import_extra("pandas", "cli").DataFrame(rows)
