"""What norm and loss promise on new data: a bound of the error of every equivalent model."""

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
    """How large a share of new rows linear classifiers put into the wrong class, at most.

    With probability ``1 - failure_probability`` over the training rows, for all models
    ``f(x) = w . x + b`` with ``|w|_1 <= B`` and ``|b| <= b_max`` at once::

        share of errors  <=  loss / n                          (mean hinge loss)
                             + 2 B R sqrt(2 log(2 d) / n)      (complexity of the weights)
                             + 2 b_max / sqrt(n)               (complexity of the offset)
                             + sqrt(2 log(2 / failure_probability) / n)        (confidence)

    This is Theorem 26.15 of Shalev-Shwartz and Ben-David, "Understanding Machine Learning", for
    the ramp loss, as in Göpfert et al. (2018), section 3.3. The theorem knows no offset; the set of
    sums ``w . x + b`` is no richer than its two parts together, and constants up to ``b_max`` add
    ``2 b_max / sqrt(n)``.

    Three things are taken on trust. The theorem asks for ``|x| <= R`` in all rows there can ever
    be: here R is the largest scaled value of the table. It asks for B, ``b_max`` and the scaling to
    be known beforehand: here, as in the paper, they come from the same rows. And rows must be
    independent draws. With weights the error is the weighted one, and n is the number of rows of
    equal weight that tell as much, ``(sum w)^2 / sum w^2``.

    Attributes
    ----------
    failure_probability : float
        Probability that the bound fails.
    loss_part : float
        (Weighted) mean of the baseline's hinge loss.
    complexity_part : float
        Due to the baseline's weights.
    offset_part : float
        Due to the baseline's offset.
    confidence_part : float
    equivalent : float
        The bound of every model of the set at once: the limits of the set on norm, loss and offset
        in place of the baseline's own.
    training_error : float
        (Weighted) share of the training rows that the baseline puts into the wrong class.
    radius : float
        R.
    n_rows : float
        n.
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
        """The bound of the baseline: the sum of its parts."""
        return self.loss_part + self.complexity_part + self.offset_part + self.confidence_part

    @property
    def added_by_slack(self) -> float:
        """What looking at all equivalent models costs."""
        return self.equivalent - self.baseline

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound of the set says nothing: an error cannot be more than 1."""
        return self.equivalent >= 1.0

    def to_dict(self) -> dict[str, Any]:
        """The bound, its parts and what follows from them, as values that JSON can hold."""
        derived = ("baseline", "added_by_slack", "is_vacuous", "interpretation")
        return {**asdict(self), **{name: getattr(self, name) for name in derived}}

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Share of errors on new rows, at most, with probability "
                f"{1 - self.failure_probability:.4g}:",
                f"  baseline {self.baseline:.3f} (loss {self.loss_part:.3f}, weights "
                f"{self.complexity_part:.3f}, offset {self.offset_part:.3f}, confidence "
                f"{self.confidence_part:.3f})",
                f"  every equivalent model {self.equivalent:.3f}, {self.added_by_slack:.3f} more",
                f"On the training rows the baseline errs in {self.training_error:.1%}.",
                self.interpretation,
            ]
        )

    @property
    def interpretation(self) -> str:
        """How much the bound is worth, in plain words."""
        more = f"{self.added_by_slack / self.baseline:.0%}"
        if self.is_vacuous:
            return (
                "A bound of 1 or more says nothing by itself, as is usual on tables of this size; "
                f"what it shows is that the whole set adds {more} to the baseline's own."
            )
        return (
            "Such bounds are loose, the true error is likely far smaller; the whole set adds "
            f"{more} to the baseline's own."
        )


def risk_bound(subproblem: SubproblemBounds, failure_probability: float) -> RiskBound:
    """Bound of the error on new data, for the baseline and for all equivalent models.

    With privileged features, norm and loss are those of the whole model: no smaller than those of
    the part that predicts. The subproblem is one of two classes.
    """
    if not (isinstance(failure_probability, Real) and 0.0 < failure_probability < 1.0):
        raise InputError(
            f"failure_probability is the probability that the bound fails, between 0 and 1; got "
            f"{failure_probability!r}."
        )
    data, baseline = subproblem.baseline.data, subproblem.baseline.model
    n_rows = data.total_weight**2 / float(data.weight @ data.weight)
    radius = float(abs(data.X).max())  # of a sparse table, over what is stored, and zero
    per_loss = 1.0 / data.total_weight
    per_norm = 2.0 * radius * np.sqrt(2.0 * np.log(2.0 * data.n_features) / n_rows)
    per_offset = 2.0 / np.sqrt(n_rows)
    confidence = float(np.sqrt(2.0 * np.log(2.0 / failure_probability) / n_rows))
    offset_limit = float(np.abs(subproblem.models.offset_range[0]).max())
    worst = _worst_within(subproblem.models.budgets, per_norm, per_loss)
    return RiskBound(
        failure_probability=float(failure_probability),
        loss_part=per_loss * baseline.loss_,
        complexity_part=float(per_norm * baseline.norm_),
        offset_part=float(per_offset * abs(baseline.intercept_)),
        confidence_part=confidence,
        equivalent=float(worst + per_offset * offset_limit + confidence),
        training_error=1.0 - data.score(baseline),
        radius=radius,
        n_rows=n_rows,
    )


def _worst_within(budgets: Iterable[Budget], per_norm: float, per_loss: float) -> float:
    """Largest ``per_norm * norm + per_loss * loss`` within the budgets.

    Each of norm and loss is in one budget alone. A budget that holds both is best spent on one.
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
