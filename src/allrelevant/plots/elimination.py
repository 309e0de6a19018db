"""Score against number of features, with the spread over the folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InputError
from ..extras import import_extra
from .palette import INK, LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EliminationDisplay:
    """The cross-validated score of every subset on the way down.

    Made by :meth:`from_estimator`; keeps its values, so that :meth:`plot` can draw them again.

    Parameters
    ----------
    n_features : array-like of shape (n_subsets,)
    scores : array-like of shape (n_subsets,)
        Mean over the folds.
    errors : array-like of shape (n_subsets,)
        Standard error of the mean: the band.
    n_selected : int
    nested_score : float or None, default=None
        Score of the whole selection on rows that it never saw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Drawn on last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import make_classification
    >>> from allrelevant import SVMRFE
    >>> X, y = make_classification(40, 6, random_state=0)
    >>> SVMRFE().fit(X, y).plot().ax_.get_xlabel()
    'number of features'
    """

    ax_: Axes
    figure_: Any

    def __init__(
        self,
        *,
        n_features: ArrayLike,
        scores: ArrayLike,
        errors: ArrayLike,
        n_selected: int,
        nested_score: float | None = None,
    ) -> None:
        self.n_features = n_features
        self.scores = scores
        self.errors = errors
        self.n_selected = n_selected
        self.nested_score = nested_score

    @classmethod
    def from_estimator(cls, estimator: Any, **kwargs: Any) -> EliminationDisplay:
        """Draw what a fitted selector has found.

        Parameters
        ----------
        estimator : SVMRFE, EBRFE, BitFlip or AttributeFlip
        **kwargs
            Options of :meth:`plot`.
        """
        from ..elimination.trace import standard_errors

        check_is_fitted(estimator)
        if len(estimator.scores_) == 0:
            raise InputError("There are no scores to draw: with cv=None there is a ranking alone.")
        nested = getattr(estimator, "nested_", None)
        return cls(
            n_features=estimator.n_subset_features_,
            scores=estimator.scores_,
            errors=standard_errors(estimator.fold_scores_),
            n_selected=estimator.n_features_,
            nested_score=None if nested is None else nested.score,
        ).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, log: bool | None = None) -> EliminationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            By default one in a figure of its own.
        log : bool, default=None
            Whether the number of features is on a logarithmic axis; by default with more than 100.

        Returns
        -------
        EliminationDisplay
            This one.
        """
        if ax is None:
            plt = import_extra("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
        look, other = LOOKS["strong"], LOOKS["weak"]
        sizes, scores, errors = (
            np.asarray(values, dtype=float)
            for values in (self.n_features, self.scores, self.errors)
        )
        order = np.argsort(sizes, kind="stable")
        sizes, scores, errors = sizes[order], scores[order], errors[order]
        ax.fill_between(
            sizes,
            scores - errors,
            scores + errors,
            facecolor=look.fill,
            alpha=0.18,
            edgecolor="none",
            label="one standard error",
        )
        ax.plot(sizes, scores, color=look.edge, linewidth=1.3, label="cross-validated score")
        ax.axvline(
            self.n_selected, color=INK, linewidth=0.9, linestyle=":", label=self._selected_label
        )
        if self.nested_score is not None:
            ax.axhline(
                self.nested_score,
                color=other.edge,
                linewidth=1.2,
                linestyle="--",
                label=f"on rows never seen: {self.nested_score:.3f}",
            )
        ax.set_xscale("log" if (sizes.max() > 100 if log is None else log) else "linear")
        ax.set_xlabel("number of features")
        ax.set_ylabel("score")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _selected_label(self) -> str:
        return f"selected: {self.n_selected}"
