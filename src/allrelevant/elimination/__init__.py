"""Backward elimination of features with SVMs and a downdated kernel matrix.

- ``rfe``, ``flips``: the public selectors; ``_base``: their base class
- ``run``: eliminations on all rows, in each fold and in outer folds
- ``local_search``: the search over flips
- ``engine``: the elimination loop, the ranking criterion and the number of features per step
- ``evaluation``, ``scoring``: cross-validation of subsets, and scorers
- ``active_features``, ``kernels``: the remaining features and their kernel matrix
- ``svm``: SVMs with a precomputed kernel matrix
- ``history``: the subsets along the elimination path
"""

from __future__ import annotations

from .flips import AttributeFlip, BitFlip
from .rfe import EBRFE, SVMRFE

__all__ = ["EBRFE", "SVMRFE", "AttributeFlip", "BitFlip"]
