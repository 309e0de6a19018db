"""Figures for feature selection: scores along an elimination path, and minimum-cost sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._optional import import_extra
from ..bounds.cheapest_models import CheapestModels
from ..exceptions import InputError
from ._style import CLASS_STYLES, TEXT_COLOR, AxesDisplay, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class EliminationDisplay(AxesDisplay):
    """Plot of the cross-validated scores of feature subsets along an elimination path.

    Use :meth:`from_estimator` to create a display, and :meth:`plot` to redraw it.

    Parameters
    ----------
    n_features : array-like of shape (n_subsets,)
        Number of features in each subset.
    scores : array-like of shape (n_subsets,)
        Mean score of each subset over the folds.
    errors : array-like of shape (n_subsets,)
        Standard error of each mean, drawn as a band.
    n_selected : int
        Number of selected features.
    held_out_score : float or None, default=None
        Score on rows that were not used for the selection, drawn as a horizontal line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

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

    n_features: ArrayLike
    scores: ArrayLike
    errors: ArrayLike
    n_selected: int
    held_out_score: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, **kwargs: Any) -> EliminationDisplay:
        """Create a display from a fitted selector and draw it.

        Parameters
        ----------
        estimator : SVMRFE, EBRFE, BitFlip, AttributeFlip or SaliencySelector
            Fitted selector.
        **kwargs
            Parameters of :meth:`plot`.
        """
        check_is_fitted(estimator)
        if len(estimator.scores_) == 0:
            raise InputError(
                "There are no scores to draw, because a number of features was given. Fit the "
                "selector with a rule as n_features_to_select, and then call select(number)."
            )
        held_out = getattr(estimator, "held_out_score_", None)
        return cls(
            n_features=estimator.n_subset_features_,
            scores=estimator.scores_,
            errors=estimator.score_errors_,
            n_selected=estimator.n_features_,
            held_out_score=None if held_out is None else held_out.score,
        ).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None, log: bool | None = None) -> EliminationDisplay:
        """Draw the scores against the number of features.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        log : bool, default=None
            Whether to draw the number of features on a logarithmic axis. If None, the axis is
            logarithmic for more than 100 features.

        Returns
        -------
        EliminationDisplay
            The display itself.
        """
        ax = axes_or_new(ax, 7.0, 4.0)
        style, other = CLASS_STYLES["strong"], CLASS_STYLES["weak"]
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
            facecolor=style.fill,
            alpha=0.18,
            edgecolor="none",
            label="± one standard error",
        )
        ax.plot(sizes, scores, color=style.edge, linewidth=1.3, label="cross-validated score")
        ax.axvline(
            self.n_selected,
            color=TEXT_COLOR,
            linewidth=0.9,
            linestyle=":",
            label=f"selected: {self.n_selected}",
        )
        if self.held_out_score is not None:
            ax.axhline(
                self.held_out_score,
                color=other.edge,
                linewidth=1.2,
                linestyle="--",
                label=f"held-out score: {self.held_out_score:.3f}",
            )
        ax.set_xscale("log" if (sizes.max() > 100 if log is None else log) else "linear")
        ax.set_xlabel("number of features")
        ax.set_ylabel("score")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class CostDisplay(AxesDisplay):
    """Plot of the cost of minimum-cost feature sets against their number of features.

    A filled circle marks a set whose cost is proven minimal among the sets not returned before it.
    A hollow circle marks the best set found within the time limit; a line extends down to the
    certified lower bound of the cost. A cross marks the baseline.

    Parameters
    ----------
    design : CheapestModels
        Equivalent models with the lowest feature costs.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the most recent drawing.
    figure_ : matplotlib Figure
        Figure of the most recent drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from allrelevant import ClassificationBounds
    >>> from allrelevant.datasets import make_linear_classification
    >>> data = make_linear_classification(
    ...     n_strong=1, n_weak=2, n_irrelevant=1, random_state=0)
    >>> bounds = ClassificationBounds(C=1.0, cutoff=0.5).fit(data.X, data.y)
    >>> display = bounds.cheapest([1, 5, 2, 1], n_solutions=2).plot()
    >>> display.ax_.get_ylabel()
    'cost'
    """

    design: CheapestModels

    @classmethod
    def from_result(cls, design: CheapestModels, **kwargs: Any) -> CostDisplay:
        """Create a display of minimum-cost feature sets and draw it.

        Parameters
        ----------
        design : CheapestModels
            Equivalent models with the lowest feature costs.
        **kwargs
            Parameters of :meth:`plot`.
        """
        return cls(design=design).plot(**kwargs)

    def plot(self, *, ax: Axes | None = None) -> CostDisplay:
        """Draw the costs against the number of features.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        CostDisplay
            The display itself.
        """
        ticker = import_extra("matplotlib.ticker", "plot")
        ax = axes_or_new(ax, 5.6, 4.0)
        for solution in self.design:
            self._mark(ax, len(solution.indices), solution)
        n_used = int(self.design.baseline_used.sum())
        ax.plot(n_used, self.design.baseline_cost, "x", color=TEXT_COLOR, label="baseline")
        ax.set_xlabel("number of features", fontsize=9)
        ax.set_ylabel("cost", fontsize=9)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.15)
        ax.spines[["top", "right"]].set_visible(False)
        handles, labels = ax.get_legend_handles_labels()
        by_label = dict(zip(labels, handles, strict=True))  # one entry per label
        ax.legend(by_label.values(), by_label.keys(), fontsize=8, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Axes, n_features: int, solution: Any) -> None:
        style = CLASS_STYLES["strong" if solution.proven else "irrelevant"]
        label = "proven optimal" if solution.proven else "best found within the time limit"
        if solution.gap > 0:
            ends = [solution.cost - solution.gap, solution.cost]
            ax.plot([n_features, n_features], ends, color=style.edge, linewidth=1.0)
        ax.plot(
            n_features,
            solution.cost,
            "o",
            markerfacecolor=style.fill,
            markeredgecolor=style.edge,
            label=label,
        )
