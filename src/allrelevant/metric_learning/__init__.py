"""Metric learning: classifiers that learn a linear mapping to separate the classes.

- ``gmlvq``: :class:`GMLVQ`, which learns prototypes and a metric together
- ``lmnn``: :class:`LMNN`, which separates neighbors of other classes by a margin
- ``_base``: validation, centering, the initial mapping and the components of a metric
- ``costs``: cost functions with exact gradients; the search for impostors
- ``optimization``: L-BFGS over matrices, and coordinates for fast convergence
"""

from __future__ import annotations

from ._base import eigen_rows
from .gmlvq import GMLVQ
from .lmnn import LMNN

__all__ = ["GMLVQ", "LMNN", "eigen_rows"]
