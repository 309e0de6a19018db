"""From samples to the set of models that are as good as the best one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .baseline import l1_path, l2_svm_path
from .models import LinearModel
from .programs.equivalent_models import EquivalentModels, joint_budget, separate_budgets
from .programs.samples import Samples


@dataclass(frozen=True)
class Slack:
    """How much worse than the baseline an equivalent model may be.

    Attributes
    ----------
    delta : float
        Relative slack of the norm.
    loss_slack : float
        Relative slack of the loss.
    loss_tol : float
        Absolute slack of the loss: a share of a loss of zero would allow nothing.
    """

    delta: float
    loss_slack: float
    loss_tol: float

    def norm_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.delta) * baseline.norm_

    def loss_limit(self, baseline: LinearModel) -> float:
        return (1.0 + self.loss_slack) * baseline.loss_ + self.loss_tol


class SeparateBudgets:
    """Norm and loss each within a budget of its own, around the l1-regularised model.

    Göpfert et al., "Interpretation of linear classifiers by means of feature relevance bounds",
    Neurocomputing 2018.
    """

    def baseline_path(self, samples: Samples, grid: Iterable[float]) -> Iterator[LinearModel]:
        return l1_path(samples, grid)

    def equivalent(self, samples: Samples, baseline: LinearModel, slack: Slack) -> EquivalentModels:
        norm, loss = slack.norm_limit(baseline), slack.loss_limit(baseline)
        start = baseline.start_
        return separate_budgets(samples.rows if start is None else start.rows, norm, loss, start)


class JointBudget:
    """Norm plus C times the loss within one budget, around the common l2-regularised SVM.

    Göpfert, Pfannschmidt and Hammer, "Feature relevance bounds for linear classification",
    ESANN 2017.
    """

    def baseline_path(self, samples: Samples, grid: Iterable[float]) -> Iterator[LinearModel]:
        return l2_svm_path(samples, grid)

    def equivalent(self, samples: Samples, baseline: LinearModel, slack: Slack) -> EquivalentModels:
        limit = slack.norm_limit(baseline) + baseline.C_ * slack.loss_limit(baseline)
        # The l2 baseline is no vertex of the set; the l1 one is, and has the same C.
        (vertex,) = l1_path(samples, [baseline.C_])
        return joint_budget(samples.rows, baseline.C_, limit, vertex.start_)


Formulation = SeparateBudgets | JointBudget

FORMULATIONS: dict[str, Formulation] = {"separate": SeparateBudgets(), "joint": JointBudget()}


@dataclass(frozen=True)
class Standard:
    """A problem and the baseline that sets the standard for it.

    Attributes
    ----------
    samples : Samples
        Scaled.
    features : ndarray
        The weights whose columns are not constant.
    formulation : SeparateBudgets or JointBudget
        How the baseline was trained, and how the set of equivalent models follows from it.
    baseline : LinearModel
    score : float or None
        Cross-validated score of the baseline, where C was chosen by it.
    name : str
        What messages and progress bars call this problem.
    """

    samples: Samples
    features: NDArray[np.intp]
    formulation: Formulation
    baseline: LinearModel
    score: float | None
    name: str


def fit_baseline(formulation: Formulation, samples: Samples, C: float) -> LinearModel:
    """The baseline at one C."""
    return next(iter(formulation.baseline_path(samples, [C])))
