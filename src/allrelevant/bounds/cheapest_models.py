"""Minimum-cost feature sets and their models, with the interface of fitted selectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import display, import_extra
from .._sklearn import take_columns
from .._text import count_noun, join_names
from .._typing import Vector
from .._validation import feature_names
from ..exceptions import InputError
from ..terms.layout import WeightLayout
from .models import LinearModel, LinearModels

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import CostDisplay


@dataclass(frozen=True)
class CheapestModel:
    """Minimum-cost feature set, with its cost, an equivalent model and a score.

    Attributes
    ----------
    features : list of str
        Names of the features in the set, in the order of the table.
    indices : ndarray of int
        Indices of these features.
    cost : float
        Total cost of the features.
    proven : bool
        Whether the cost is proven to be minimal, apart from feature sets returned earlier.
    gap : float
        Upper bound on the possible cost saving; zero if ``proven``.
    model : LinearModel or LinearModels
        Equivalent model that uses only these features and minimizes the norm plus C times the loss.
        It is verified against the data.
    score, score_error : float
        Cross-validated score of a baseline with these features only, and its standard error. The
        score is optimistic, because the features were chosen on all rows, including those on which
        the score is measured. See ``held_out_score`` of :class:`CheapestModels`.
    predictor : estimator
        Copy of the estimator that predicts with this model instead of the baseline.
    """

    features: list[str]
    indices: NDArray[np.intp]
    cost: float
    proven: bool
    gap: float
    model: LinearModel | LinearModels
    score: float
    score_error: float
    predictor: Any = field(repr=False)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return the features of the set as a Boolean mask.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return indices instead of a mask.
        """
        if indices:
            return self.indices
        return np.isin(np.arange(self.predictor.n_features_in_), self.indices)

    def get_feature_names_out(self) -> NDArray[Any]:
        """Return the names of the features in the set."""
        return np.array(self.features, dtype=object)

    def transform(self, X: Any) -> Any:
        """Return the columns of the set.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Table with the columns of the table that the bounds were fitted to.

        Returns
        -------
        array, sparse matrix or DataFrame of shape (n_samples, n_selected)
            Table of the same type as ``X``.
        """
        X = X if hasattr(X, "shape") else np.asarray(X)
        names = feature_names(self.predictor)
        if len(X.shape) != 2 or X.shape[1] != len(names):
            raise InputError(
                f"X has shape {tuple(X.shape)}, but the bounds were fitted to {len(names)} "
                "features. Pass the columns used for the fit."
            )
        is_named = hasattr(X, "columns") and hasattr(self.predictor, "feature_names_in_")
        if is_named and [str(name) for name in X.columns] != names:
            raise InputError(
                "The columns of X differ from those used for the fit. Pass the same columns in "
                "the same order."
            )
        return take_columns(X, self.indices.tolist())


@dataclass(frozen=True)
class CheapestModels(Sequence[CheapestModel]):
    """Minimum-cost feature sets with their models, in ascending order of cost.

    Attributes
    ----------
    feature_names : list of str
        Names of all features.
    costs : ndarray of shape (n_features,)
        Cost of each feature.
    solutions : list of CheapestModel
        Models in order of cost. No feature set contains an earlier one, because the extra features
        would be unnecessary.
    baseline_used : ndarray of shape (n_features,)
        Whether the baseline uses each feature.
    baseline_score, baseline_score_error : float
        Cross-validated score of the baseline with all features, on the same folds, and its standard
        error.
    complete : bool
        Whether ``solutions`` contains all such feature sets.
    held_out_score, held_out_score_error : float or None
        Nested cross-validation score of the cheapest feature set, and its standard error: in each
        fold, the set is chosen anew on the training rows, and a baseline with these features is
        scored on the held-out rows. The folds are those of ``baseline_score``. The score estimates
        the performance of such a choice on new rows. None if it was not computed.
    notes : tuple of str
        Remarks on the scores.
    """

    feature_names: list[str]
    costs: Vector
    solutions: list[CheapestModel]
    baseline_used: NDArray[np.bool_]
    baseline_score: float
    baseline_score_error: float
    complete: bool
    held_out_score: float | None = None
    held_out_score_error: float | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: Any) -> Any:
        return self.solutions[index]

    def __iter__(self) -> Iterator[CheapestModel]:
        return iter(self.solutions)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return the features of the cheapest set; see :meth:`CheapestModel.get_support`."""
        return self.solutions[0].get_support(indices)

    def get_feature_names_out(self) -> NDArray[Any]:
        """Return the names of the features in the cheapest set."""
        return self.solutions[0].get_feature_names_out()

    def transform(self, X: Any) -> Any:
        """Return the columns of the cheapest set; see :meth:`CheapestModel.transform`."""
        return self.solutions[0].transform(X)

    def __str__(self) -> str:
        first = self.solutions[0]
        proof = "proven minimal" if first.proven else f"at most {first.gap:g} above the minimum"
        names = f" ({join_names(first.features)})" if first.features else ""
        restricted = "with these features" if first.features else "without features"
        lines = [
            f"The cheapest of {count_noun(len(self), 'feature set', 'feature sets')} has "
            f"{count_noun(len(first.features), 'feature', 'features')}{names} and costs "
            f"{first.cost:g} ({proof}).",
            f"Cross-validated score: {first.score:.3f} ± {first.score_error:.3f} "
            f"{restricted}, {self.baseline_score:.3f} ± {self.baseline_score_error:.3f} with all "
            f"{len(self.feature_names)}.",
        ]
        if self.held_out_score is not None:
            lines.append(
                f"Held-out score, with the set chosen anew in each fold: {self.held_out_score:.3f} "
                f"± {self.held_out_score_error:.3f}."
            )
        return "\n".join([*lines, *self.notes])

    @property
    def baseline_cost(self) -> float:
        """Total cost of the features that the baseline uses."""
        return float(self.costs[self.baseline_used].sum())

    def core(self) -> list[str]:
        """Return the names of the features that every set contains, in the order of the table."""
        common = set.intersection(*(set(s.indices.tolist()) for s in self.solutions))
        return [self.feature_names[j] for j in sorted(common)]

    def alternatives(self, feature: int | str) -> list[CheapestModel]:
        """Return the models whose feature set excludes a given feature, cheapest first.

        Parameters
        ----------
        feature : int or str
            Index or name of the feature.
        """
        layout = WeightLayout(len(self.feature_names), names=tuple(self.feature_names))
        index = layout.index(feature)
        return [solution for solution in self.solutions if index not in solution.indices]

    def to_frame(self) -> pd.DataFrame:
        """Return costs and scores as a data frame with one row per feature set, cheapest first.

        Returns
        -------
        pandas.DataFrame
            ``cost``, ``n_features``, ``features``, ``proven``, ``gap``, ``score`` and
            ``score_error``.
        """
        pandas = import_extra("pandas", "pandas")

        names = ("cost", "features", "proven", "gap", "score", "score_error")
        frame = pandas.DataFrame(
            [[getattr(solution, name) for name in names] for solution in self.solutions],
            columns=list(names),
        )
        frame.insert(1, "n_features", [len(solution.indices) for solution in self.solutions])
        return frame.rename_axis("rank")

    def to_dict(self) -> dict[str, Any]:
        """Return the feature sets, costs and scores as JSON-compatible values.

        Returns
        -------
        dict
            ``models`` in order of cost, ``core``, ``complete``, the ``costs`` of all features, the
            ``baseline`` with its number of features, cost and score, the ``held_out_score`` with
            its error, and ``notes``.
        """
        names = ("features", "cost", "proven", "gap", "score", "score_error")
        return {
            "models": [{name: getattr(model, name) for name in names} for model in self.solutions],
            "core": self.core(),
            "complete": self.complete,
            "costs": dict(zip(self.feature_names, self.costs.tolist(), strict=True)),
            "baseline": {
                "n_features": int(self.baseline_used.sum()),
                "cost": self.baseline_cost,
                "score": self.baseline_score,
                "score_error": self.baseline_score_error,
            },
            "held_out_score": self.held_out_score,
            "held_out_score_error": self.held_out_score_error,
            "notes": list(self.notes),
        }

    def plot(self, **kwargs: Any) -> CostDisplay:
        """Plot the cost of feature sets against their size; see :meth:`CostDisplay.from_result`."""
        return display("CostDisplay").from_result(self, **kwargs)
