"""Elimination setups of Krupka (2016): R1 to R5, and EB3 to EB20 with more candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ....elimination_tasks import KEPT

Weights = Literal["cw2", "cw3"] | None
FIVE = (1 / 4, 1.0, 4.0, 16.0, 64.0)
SIX = (1 / 16, *FIVE)


@dataclass(frozen=True)
class Setup:
    """Settings of one elimination run.

    Attributes
    ----------
    name : str
    min_variance : float
        Largest variance of the features of VPS-30-En that are dropped.
    n_kept : int
        Number of features with the largest variance that are kept in the other tasks.
    class_weight : {None, "cw2", "cw3"}
        None is cw1 of the thesis.
    costs : tuple of float
    n_candidates : int
        Number of candidates per step; 1 is SVM-RFE.
    """

    name: str
    min_variance: float
    n_kept: int
    class_weight: Weights
    costs: tuple[float, ...]
    n_candidates: int = 1

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``EBRFE``; gamma has its default, 1 / (remaining features)."""
        return {
            "kernel": "rbf",
            "C": self.costs,
            "class_weight": self.class_weight,
            "n_candidates": self.n_candidates,
        }


# The higher threshold is replaced by half as many features.
SVM_RFE = (
    Setup("R1", 0.05, KEPT // 2, None, FIVE),
    Setup("R2", 0.05, KEPT // 2, "cw3", FIVE),
    Setup("R3", 0.05, KEPT // 2, "cw2", FIVE),
    Setup("R4", 0.02, KEPT, None, SIX),
    Setup("R5", 0.02, KEPT, "cw3", SIX),
)
R5 = SVM_RFE[-1]
EB_RFE = (R5, *(replace(R5, name=f"EB{n}", n_candidates=n) for n in (3, 5, 8, 12, 20)))
