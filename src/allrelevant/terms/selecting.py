"""Selector interface of scikit-learn for tables whose indices are checked before use."""

from __future__ import annotations

from typing import Any

from sklearn.feature_selection import SelectorMixin

from .validation import check_sparse_indices


class TableSelectorMixin(SelectorMixin):
    """Mixin of all feature selectors; ``transform`` checks the indices of sparse tables."""

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array or data frame of shape (n_samples, n_selected_features)
            Samples with only the selected features.
        """
        check_sparse_indices(X)
        return super().transform(X)
