"""Classifiers that learn a metric: a linear mapping, in which distances tell the classes apart.

- ``gmlvq``: prototypes and metric together; ``gmlvq_cost``: its cost and exact gradient;
  ``prototypes``: how many, and where they start
- ``lmnn``: neighbours of the own class near, all others a margin further; ``lmnn_cost``: its cost
  and exact gradient; ``impostors``: which pairs of rows can matter to it
- ``learner``: what they share; ``start``: the mapping they start from; ``conditioning``: the
  coordinates they descend in; ``descent``: L-BFGS; ``rows``: the rows that stand for a metric
"""

from __future__ import annotations

from ._base import eigen_rows
from .gmlvq import GMLVQ
from .lmnn import LMNN

__all__ = ["GMLVQ", "LMNN", "eigen_rows"]
