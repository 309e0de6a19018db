"""Generalization bound on the error rate of every equivalent model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..exceptions import InputError
from .programs.equivalent_models import Budget
from .result import SubproblemBounds


@dataclass(frozen=True)
class RiskBound:
    """Upper bound on the error rate of linear classifiers on new data.

    With probability ``1 - failure_probability`` over the training samples, the bound holds for all
    models ``f(x) = w . x + b`` with ``|w|_1 <= B`` and ``|b| <= b_max`` simultaneously::

        error rate  <=  loss / n                          (mean hinge loss)
                        + 2 B R sqrt(2 log(2 d) / n)      (complexity of the weights)
                        + 2 b_max / sqrt(n)               (complexity of the offset)
                        + sqrt(2 log(2 / failure_probability) / n)        (confidence)

    This is Theorem 26.15 of Shalev-Shwartz and Ben-David, "Understanding Machine Learning", for
    the ramp loss, as in Göpfert et al. (2018), section 3.3. The theorem covers models without an
    offset. The Rademacher complexity of ``w . x + b`` is at most the sum of the complexities of its
    two terms, and constants up to ``b_max`` add ``2 b_max / sqrt(n)``.

    Three assumptions are not verified. First, the theorem requires ``|x| <= R`` for all possible
    samples; here R is the largest scaled value in the table. Second, it requires B, ``b_max`` and
    the scaling to be fixed in advance; here, as in the paper, they are estimated from the same
    samples. Third, the samples must be independent draws. With sample weights, the error rate is
    weighted and n is the effective sample size ``(sum w)^2 / sum w^2``.

    Attributes
    ----------
    failure_probability : float
        Probability that the bound fails.
    loss_part : float
        (Weighted) mean hinge loss of the baseline.
    complexity_part : float
        Term for the baseline's weights.
    offset_part : float
        Term for the baseline's offset.
    confidence_part : float
        Term for the confidence level.
    equivalent : float
        Bound that holds for all equivalent models: the budgets replace the norm and loss of the
        baseline, and the largest possible offset replaces its offset.
    training_error : float
        (Weighted) error rate of the baseline on the training samples.
    radius : float
        R, the largest absolute scaled value in the table.
    n_rows : float
        n, the (effective) number of samples.
    """

    failure_probability: float
    loss_part: float
    complexity_part: float
    offset_part: float
    confidence_part: float
    equivalent: float
    training_error: float
    radius: float
    n_rows: float

    @property
    def baseline(self) -> float:
        """Upper bound on the error rate of the baseline, the sum of its four terms."""
        return self.loss_part + self.complexity_part + self.offset_part + self.confidence_part

    @property
    def added_by_slack(self) -> float:
        """Increase in the bound on the error from the baseline to all equivalent models."""
        return self.equivalent - self.baseline

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound for all equivalent models is 1 or more, and thus uninformative."""
        return self.equivalent >= 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds and their terms as JSON-compatible values."""
        derived = ("baseline", "added_by_slack", "is_vacuous", "interpretation")
        return {**asdict(self), **{name: getattr(self, name) for name in derived}}

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Upper bound on the error rate for new data, with probability "
                f"{1 - self.failure_probability:.4g}:",
                f"  baseline {self.baseline:.3f} (loss {self.loss_part:.3f}, weights "
                f"{self.complexity_part:.3f}, offset {self.offset_part:.3f}, confidence "
                f"{self.confidence_part:.3f})",
                f"  every equivalent model {self.equivalent:.3f} ({self.added_by_slack:.3f} more)",
                f"The baseline's error rate on the training rows is {self.training_error:.1%}.",
                self.interpretation,
            ]
        )

    @property
    def interpretation(self) -> str:
        """Plain-language interpretation of the bound."""
        increase = f"{self.added_by_slack / self.baseline:.0%}"
        if self.is_vacuous:
            return (
                "A bound of 1 or more is not informative by itself, which is usual for tables of "
                "this size. It does show that covering all equivalent models adds "
                f"{increase} to the bound for the baseline."
            )
        return (
            "Such bounds are loose; the true error rate is probably much smaller. Covering all "
            f"equivalent models adds {increase} to the bound for the baseline."
        )


def risk_bound(subproblem: SubproblemBounds, failure_probability: float) -> RiskBound:
    """Return bounds on the error rate on new data, for the baseline and all equivalent models.

    The subproblem must be a two-class problem. With privileged features, norm and loss are those of
    the whole model, which are at least as large as those of the part that predicts.
    """
    if not (isinstance(failure_probability, Real) and 0.0 < failure_probability < 1.0):
        raise InputError(
            "failure_probability is the probability that the bound fails and must be between 0 "
            f"and 1 (got {failure_probability!r})."
        )
    data, baseline = subproblem.baseline.data, subproblem.baseline.model
    n_rows = data.total_weight**2 / float(data.weight @ data.weight)
    radius = float(abs(data.X).max())  # sparse: the maximum over stored values and zero
    per_loss = 1.0 / data.total_weight
    per_norm = 2.0 * radius * np.sqrt(2.0 * np.log(2.0 * data.n_features) / n_rows)
    per_offset = 2.0 / np.sqrt(n_rows)
    confidence = float(np.sqrt(2.0 * np.log(2.0 / failure_probability) / n_rows))
    offset_limit = float(np.abs(subproblem.models.offset_range[0]).max())
    largest = _max_within_budgets(subproblem.models.budgets, per_norm, per_loss)
    return RiskBound(
        failure_probability=float(failure_probability),
        loss_part=per_loss * baseline.loss_,
        complexity_part=float(per_norm * baseline.norm_),
        offset_part=float(per_offset * abs(baseline.intercept_)),
        confidence_part=confidence,
        equivalent=float(largest + per_offset * offset_limit + confidence),
        training_error=1.0 - data.score(baseline),
        radius=radius,
        n_rows=n_rows,
    )


def _max_within_budgets(budgets: Iterable[Budget], per_norm: float, per_loss: float) -> float:
    """Return the maximum of ``per_norm * norm + per_loss * loss`` within the budgets.

    Norm and loss each appear in exactly one budget. If both share a budget, the maximum is attained
    by using all of it for one of the two.
    """
    return sum(
        budget.limit
        * max(
            gain / cost
            for gain, cost in (
                (per_norm, budget.norm_coefficient),
                (per_loss, budget.loss_coefficient),
            )
            if cost > 0
        )
        for budget in budgets
    )
