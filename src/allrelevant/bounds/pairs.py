"""Data of tasks whose constraints are pairs of samples: ranking and survival."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import Vector
from ..exceptions import InputError
from ..resampling import Fold
from .models import LinearModel
from .programs.comparable_pairs import ComparablePairs
from .programs.hinge import HingeRows
from .programs.pairwise import PairwiseLoss, initial_rows
from .task import TaskData

# Maximum numbers of pairs, and of pairs times features, for which pairs are listed explicitly.
MAX_LISTED_PAIRS = 3_000
MAX_LISTED_CELLS = 20_000_000


@dataclass(frozen=True)
class PairwiseData(TaskData):
    """Data of which some pairs of samples are comparable: one sample should score higher.

    The loss is the mean shortfall from a margin of 1 over all comparable pairs, weighted by the
    product of the weights of both samples.
    """

    @cached_property
    @abstractmethod
    def pairs(self) -> ComparablePairs:
        """Comparable pairs of samples."""

    @property
    def n_loss_terms(self) -> int:
        return self.pairs.n_pairs

    @property
    def total_weight(self) -> float:
        return 1.0  # the loss is a mean over pairs

    def score(self, model: LinearModel) -> float:
        """Return the fraction of comparable pairs in the right order; ties count half."""
        return self.pairs.concordance(model.decision_function(self.X), self.weight)

    def selection_score(self, model: LinearModel) -> float:
        """Return the negative loss, which distinguishes models with almost the same order.

        A small C shrinks all scores but hardly changes their order, so the fraction of pairs in
        the right order is nearly the same for many values of C.
        """
        unscaled = model.decision_function(self.X)[:, None]
        loss = PairwiseLoss(unscaled, self.pairs, self.weight)
        return -float(loss.values(np.ones((1, 1)))[0])

    def association_target(self) -> Vector:
        """Return the derivative of the loss with respect to the score of each sample, at zero.

        This is the number of comparable pairs in which the sample should score higher, minus the
        number of those in which it should score lower, each weighted by the other sample.
        """
        high, low = self.pairs.high, self.pairs.low
        n_blocks = self.pairs.n_blocks
        target = np.zeros(self.n_samples)
        for side, other, sign in ((high, low, 1.0), (low, high, -1.0)):
            total = np.bincount(other.block, self.weight[other.sample], n_blocks)
            np.add.at(target, side.sample, sign * total[side.block])
        return target

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        return self.usable_folds(super().folds(n_folds, seed))

    def usable_folds(self, folds: Iterable[Fold]) -> list[Fold]:
        """Return the folds whose training and held-out samples are comparable."""
        usable = [fold for fold in folds if all(self.take(rows).pairs.n_pairs for rows in fold)]
        if not usable:
            raise InputError(
                "Cross-validation requires comparable pairs of rows among the held-out rows, but "
                "no fold has any. Pass C as a number instead of 'cv'."
            )
        return usable

    @property
    def lists_pairs(self) -> bool:
        """Whether there are few enough pairs for one constraint per pair."""
        n_pairs = self.pairs.n_pairs
        return n_pairs <= MAX_LISTED_PAIRS and n_pairs * self.n_features <= MAX_LISTED_CELLS

    def _free_slack_rows(self) -> HingeRows:
        """Return one constraint per pair, or cutting planes of the loss if there are many pairs."""
        n_pairs = self.pairs.n_pairs
        if n_pairs == 0:
            raise InputError(
                "No pair of rows is comparable. Check the target, and the groups if there are any: "
                "rows are compared only within a group."
            )
        if self.lists_pairs:
            return self._pair_rows()
        return initial_rows(PairwiseLoss(self.X, self.pairs, self.weight))

    def _pair_rows(self) -> HingeRows:
        """Return the constraints ``w . (x_i - x_j) >= 1``, one per pair of samples."""
        above, below = self.pairs.list_pairs()
        weight = self.weight[above] * self.weight[below]
        return HingeRows(
            table=self.X[above] - self.X[below],
            offset_table=np.empty((len(above), 0)),
            target=np.ones(len(above)),
            weight=weight / weight.sum(),
        )

    def _intercept(self, offset: Vector) -> float:
        return 0.0  # an intercept does not change the order
