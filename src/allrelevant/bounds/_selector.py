"""Mixin that adds the scikit-learn selector interface, a result table and a figure to bounds.

The estimators for linear models and for mappings share this mixin.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._optional import display, import_extra
from .._text import count_noun
from .._typing import Matrix
from .._validation import check_varying, warn_constant_columns
from ..exceptions import InputError, warn_caller
from ..relevance import RELEVANT
from ..subsets import scorer_name
from ..terms.layout import WeightLayout
from ..terms.selecting import TableSelectorMixin
from .models import LinearModel, LinearModels
from .result import FEATURE_COLUMNS, Column
from .solver.ranges import LOWER, UPPER
from .task import Task

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import IntervalsDisplay
    from .levels import LevelEffects
    from .mapping.linear_mapping import LinearMapping


class BoundsSelectorMixin(TableSelectorMixin):
    """Mixin that adds feature selection, a result table and a figure to relevance bounds."""

    n_features_in_: int
    interval_: Matrix
    signed_interval_: Matrix
    gap_: Matrix
    exact_: NDArray[np.bool_]
    relevance_: NDArray[np.str_]
    baseline_: LinearModel | LinearModels | LinearMapping

    task: ClassVar[Task]
    scoring: Any = None  # metrics and mappings have no such parameter

    _columns: ClassVar[tuple[Column, ...]] = FEATURE_COLUMNS

    @property
    def _score_name(self) -> str:
        """Name of the cross-validated score."""
        return scorer_name(self.scoring, self.task.wording.score)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._columns_of(np.isin(self.relevance_, RELEVANT))

    def _columns_of(self, features: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the columns of the table, given a mask of its features."""
        return features

    def to_frame(self, *, privileged: bool = False) -> pd.DataFrame:
        """Return bounds and relevance classes as a data frame with one row per feature.

        Parameters
        ----------
        privileged : bool, default=False
            Whether to return the privileged features instead of the features of ``X``.

        Returns
        -------
        pandas.DataFrame
            Table indexed by feature name, in the order of the columns of the input.
        """
        check_is_fitted(self)
        tables = self._feature_tables()
        if privileged and len(tables) == 1:
            raise InputError(
                "The estimator was fitted without privileged features. Pass them to fit: "
                "fit(X, y, privileged=Z)."
            )
        pandas = import_extra("pandas", "pandas")

        table = tables[int(privileged)]
        return pandas.DataFrame(
            {column.name: column.values(table) for column in self._columns if column.in_frame},
            index=pandas.Index(table.names, name="feature"),
        )

    @abstractmethod
    def _feature_tables(self) -> list[Any]:
        """Return the results for the features of ``X`` and, if any, for the privileged features."""

    def _relevant_levels(self) -> list[LevelEffects]:
        """Return the effects of the levels of all relevant features; mappings have none."""
        return []

    def _document_parts(self) -> dict[str, Any]:
        """Return the entries of the JSON document that only this type of estimator has."""
        return {}

    def plot(self, **kwargs: Any) -> IntervalsDisplay:
        """Plot the relevance intervals as bars; see :meth:`IntervalsDisplay.from_estimator`."""
        return display("IntervalsDisplay").from_estimator(self, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(self, feature: int | str, bound: str) -> tuple[int, int]:
        """Validate a feature and the name of a bound, and return the index of each."""
        check_is_fitted(self)
        if bound not in ("lower", "upper"):
            raise InputError(f"bound must be 'lower' or 'upper' (got {bound!r}).")
        side = UPPER if bound == "upper" else LOWER
        return self._feature_layout().index(feature), side

    def _feature_layout(self) -> WeightLayout:
        return WeightLayout.from_estimator(self)

    def _check_constant_columns(self, is_constant: NDArray[np.bool_]) -> None:
        constant = np.flatnonzero(is_constant)
        check_varying(len(constant), len(is_constant))
        warn_constant_columns(self._feature_layout().names, constant, "irrelevant")

    def _warn_large_gaps(self, is_inexact: NDArray[np.bool_], gap: Matrix) -> None:
        """Warn about bounds that were solved, but are certified only to within a large gap."""
        n_features = int(is_inexact.sum())
        if n_features:
            remedy = (
                "reduce tol or C"
                if getattr(self, "standardize", True)
                else "set standardize=True, because the usual cause is badly scaled columns"
            )
            features = count_noun(n_features, "feature", "features")
            warn_caller(
                f"The bounds of {features} are certified only to "
                f"within {gap[is_inexact].max():.1e} (exact_ is False; see gap_). To tighten them, "
                f"{remedy}."
            )
