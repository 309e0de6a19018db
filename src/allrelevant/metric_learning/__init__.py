"""Classifiers that learn a metric: a linear mapping after which distances separate the classes.

- ``gmlvq``: :class:`GMLVQ`, which learns prototypes and metric together
- ``lmnn``: :class:`LMNN`, which moves neighbors of other classes away by a margin
- ``_base``: validation, centering, the initial mapping, and the components of a metric
- ``costs``: the costs of both and their exact gradients; impostors
- ``optimization``: L-BFGS over matrices, and the coordinates in which it converges fast
"""

from __future__ import annotations

from ._base import eigen_rows
from .gmlvq import GMLVQ
from .lmnn import LMNN

__all__ = ["GMLVQ", "LMNN", "eigen_rows"]
