"""What estimators of relevance bounds have in common, whatever their task."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ...arrays import Matrix
from ...exceptions import InputError, RelevanceWarning
from ...extras import import_extra
from ..fitted import (
    baseline_weights,
    feature_names,
    privileged_baseline_weights,
    privileged_names,
)
from ..mappings.linear_mapping import LinearMapping
from ..models import LinearModel, LinearModels
from ..relevance import IRRELEVANT

if TYPE_CHECKING:
    import pandas as pd

    from ...plots import IntervalsDisplay

# Bounds are exact up to the solver's rounding; beyond this, relative to the norm, say so.
_LARGE_GAP = 1e-6


class RelevanceBoundsMixin(SelectorMixin):
    """Selection, table and figure of fitted relevance bounds."""

    n_features_in_: int
    interval_: Matrix
    signed_interval_: Matrix
    gap_: Matrix
    exact_: NDArray[np.bool_]
    relevance_: NDArray[np.str_]
    baseline_: LinearModel | LinearModels | LinearMapping

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.relevance_ != IRRELEVANT

    def to_frame(self, *, privileged: bool = False) -> pd.DataFrame:
        """The result as a table, one row a feature.

        Parameters
        ----------
        privileged : bool, default=False
            The privileged features instead of the others.

        Returns
        -------
        pandas.DataFrame
            Indexed by feature, in the order of the columns of the table.
        """
        check_is_fitted(self)
        if privileged and not hasattr(self, "n_privileged_in_"):
            raise InputError("There were no privileged features: fit(X, y, privileged=Z).")
        names = privileged_names(self) if privileged else feature_names(self)
        weights = privileged_baseline_weights(self) if privileged else baseline_weights(self)
        prefix = "privileged_" if privileged else ""
        interval, signed, gap, relevance, exact = (
            getattr(self, f"{prefix}{name}_")
            for name in ("interval", "signed_interval", "gap", "relevance", "exact")
        )
        pandas = import_extra("pandas", "cli")
        return pandas.DataFrame(
            {
                "relevance": relevance,
                "lower": interval[:, 0],
                "upper": interval[:, 1],
                "signed_min": signed[:, 0],
                "signed_max": signed[:, 1],
                "baseline": weights,
                "exact": exact,
                "gap_lower": gap[:, 0],
                "gap_upper": gap[:, 1],
            },
            index=pandas.Index(names, name="feature"),
        )

    def plot(self, **kwargs: Any) -> IntervalsDisplay:
        """Draw the intervals as bars; see :meth:`IntervalsDisplay.from_estimator`."""
        from ...plots import IntervalsDisplay

        return IntervalsDisplay.from_estimator(self, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _feature_index(self, feature: int | str) -> int:
        n_features = self.n_features_in_ + getattr(self, "n_privileged_in_", 0)
        if isinstance(feature, str):
            names = [*feature_names(self), *privileged_names(self)]
            if feature not in names:
                raise InputError(f"No feature is called {feature!r}.")
            return names.index(feature)
        if not -n_features <= feature < n_features:
            raise InputError(f"Feature {feature} is out of range: there are {n_features} features.")
        return int(feature) % n_features

    def _warn_of_constant_columns(self, is_constant: NDArray[np.bool_]) -> None:
        constant = np.flatnonzero(is_constant)
        if len(constant) == len(is_constant):
            raise InputError("Every column is constant: there is no feature to tell rows apart.")
        if len(constant):
            names = ", ".join(repr(feature_names(self)[j]) for j in constant[:10])
            more = f" and {len(constant) - 10} more" if len(constant) > 10 else ""
            warnings.warn(
                f"{len(constant)} constant column(s) cannot tell rows apart and are irrelevant: "
                f"{names}{more}.",
                RelevanceWarning,
                stacklevel=3,
            )

    def _warn_of_gaps(self) -> None:
        largest = float(self.gap_[self.exact_].max(initial=0.0))
        if largest > _LARGE_GAP * max(1.0, float(np.max(self.baseline_.norm_))):
            warnings.warn(
                f"Some bounds are proven only to within {largest:.1e}: see gap_. Badly scaled "
                "columns are the usual cause.",
                RelevanceWarning,
                stacklevel=3,
            )
