"""Calibration of the cutoffs that separate relevant from irrelevant features.

A :class:`Calibration` is fitted to the baselines of all subproblems and returns the relevance rule
of each, a :class:`FittedCalibration`. The cutoffs are given by the user (:class:`FixedCutoff`) or
estimated from features that are irrelevant by construction; see :mod:`.probes` and
:mod:`.permutations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from .._params import FDR, FIXED, UNTESTED, CutoffRule
from .._typing import Matrix, Vector
from ..parallel import TimedOptions
from ..relevance import UNCONFIRMED, assign_classes
from ..terms.layout import WeightLayout
from .baseline import FittedBaseline, Tolerance
from .solver.ranges import LOWER, UPPER

# Weight that counts as zero, as a fraction of the norm.
ZERO_WEIGHT = 1e-6

# Cutoffs if the baseline uses no feature.
UNUSED_CUTOFF = np.full(2, 1e-9)

UNTESTED_NOTE = (
    "The time limit was reached before single features could be compared with noise, so no feature "
    "is called relevant. Features that no equivalent model uses are irrelevant; all others are "
    "unconfirmed. Increase max_seconds to test them."
)


@dataclass(frozen=True)
class FittedCalibration:
    """Fitted rule that assigns each feature of a subproblem to a relevance class.

    ``rule`` names the rule of each table. ``cutoff`` has shape (n_tables, 2): the cutoffs of the
    lower bound (for strong) and of the upper bound (for relevant). Where the rule is a test, a
    feature is relevant if its ``qvalue`` is at most ``fdr``, and the cutoff of the upper bound is
    the weight that permuted columns rarely exceed. Features whose table shows no evidence
    (``has_evidence``) are not relevant. A lower bound above ``zero`` is positive despite rounding
    errors. ``fdr`` is zero without tests; features with tight bounds are then never unconfirmed.
    Where the time did not suffice for any rule, the rule is "untested": features that no model
    uses are irrelevant, and all others are unconfirmed. ``notes`` are messages to the user.
    """

    layout: WeightLayout
    cutoff: Matrix
    zero: float
    rule: tuple[CutoffRule, ...]
    has_evidence: NDArray[np.bool_]
    pvalue: Vector
    qvalue: Vector
    fdr: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def from_cutoff(
        cls,
        baseline: FittedBaseline,
        cutoff: Matrix,
        *rules: CutoffRule,
        notes: tuple[str, ...] = (),
    ) -> FittedCalibration:
        """Return a rule that compares the bounds of features with cutoffs, without tests.

        ``rules`` has one item, or one per table.
        """
        layout = baseline.layout
        return cls(
            layout=layout,
            cutoff=cutoff,
            zero=zero_weight(baseline),
            rule=rules * (layout.n_tables // len(rules)),
            has_evidence=np.ones(layout.n_tables, dtype=bool),
            pvalue=np.full(layout.n_all_features, np.nan),
            qvalue=np.full(layout.n_all_features, np.nan),
            notes=notes,
        )

    def strong_cutoff(self) -> Vector:
        """Return, for each weight, the cutoff of its lower bound for strong relevance."""
        return self.layout.per_feature(self.cutoff)[:, LOWER]

    def relevance_cutoff(self) -> Vector:
        """Return, for each feature, the cutoff of its upper bound for relevance."""
        return self.layout.per_feature(self.cutoff)[:, UPPER]

    def screening_cutoff(self, baseline: FittedBaseline) -> Vector:
        """Return, for each feature, the upper bound up to which it is certainly irrelevant.

        Without evidence in its table, a feature that the baseline does not use is irrelevant
        whatever its upper bound.
        """
        is_unused = ~self.layout.any_weight(baseline.model.weights != 0)
        has_evidence = self.layout.per_feature(self.has_evidence)
        return np.where(is_unused & ~has_evidence, np.inf, self.relevance_cutoff())

    def classify(self, interval: Matrix) -> NDArray[np.str_]:
        """Return the relevance class of each feature, given the relevance intervals."""
        lower, upper = interval.T
        is_tested = self.layout.per_feature(np.array([rule == FDR for rule in self.rule]))
        is_significant = (self.qvalue <= self.fdr) & (upper > self.zero)
        is_relevant = np.where(is_tested, is_significant, upper > self.relevance_cutoff())
        is_relevant &= self.layout.per_feature(self.has_evidence)
        is_needed = (lower > self.zero) & (self.fdr > 0)
        classes = assign_classes(is_relevant, lower > self.strong_cutoff(), is_needed)
        is_untested = self.layout.per_feature(np.array([r == UNTESTED for r in self.rule]))
        return np.where(is_untested & (upper > self.zero), UNCONFIRMED, classes)

    def classify_range(self, known: Matrix, proven: Matrix) -> NDArray[np.str_]:
        """Return the relevance class of each feature, given inner and outer relevance intervals.

        ``known`` is attained by models, and no model is outside ``proven``. Where the class depends
        on which of the two is correct, the feature is unconfirmed.
        """
        classes = self.classify(proven)
        return np.where(self.classify(known) == classes, classes, UNCONFIRMED)


class Calibration(Protocol):
    """Interface of the methods that separate relevant from irrelevant features.

    ``evidence`` is the p-value of each table as a whole; see :mod:`.association`.
    ``compares_with_noise`` is False if the user decides what counts as relevant.
    """

    compares_with_noise: ClassVar[bool]

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        """Return the fitted relevance rule of each subproblem."""

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        """Return, for each subproblem, the fitted relevance rule of each baseline along a path."""


def zero_weight(baseline: FittedBaseline) -> float:
    """Return the weight below which a bound may be a rounding error."""
    return max(ZERO_WEIGHT * baseline.model.norm_, float(UNUSED_CUTOFF[LOWER]))


@dataclass(frozen=True)
class FixedCutoff:
    """User-supplied cutoff, used for both bounds of all features."""

    compares_with_noise: ClassVar[bool] = False

    cutoff: float

    def fit(
        self,
        baselines: Sequence[FittedBaseline],
        tolerance: Tolerance,
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[FittedCalibration]:
        shape = (baselines[0].layout.n_tables, 2)
        cutoff = np.full(shape, self.cutoff)
        return [FittedCalibration.from_cutoff(baseline, cutoff, FIXED) for baseline in baselines]

    def fit_path(
        self,
        paths: Sequence[Sequence[FittedBaseline]],
        tolerances: Sequence[Tolerance],
        evidence: Vector,
        **run: Unpack[TimedOptions],
    ) -> list[list[FittedCalibration]]:
        return [self.fit(path, tolerances[0], evidence) for path in paths]
