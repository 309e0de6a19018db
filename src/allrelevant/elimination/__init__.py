"""Backward elimination with SVMs, over one kernel that is down-dated as features are dropped.

- ``rfe``, ``flips``: the selectors that users see; ``_base``: what they share
- ``run``: one elimination on some rows, and the nested score; ``local_search``: the search of flips
- ``engine``: the loop, the criterion, the number of features per step
- ``evaluation``, ``scoring``: cross-validation of subsets, and scorers
- ``active_features``, ``kernels``: the features left and their kernel; ``svm``: SVMs over a kernel
- ``history``: the subsets of a run, and the choice among them
"""

from __future__ import annotations

from .flips import AttributeFlip, BitFlip
from .rfe import EBRFE, SVMRFE
from .run import NestedScore

__all__ = ["EBRFE", "SVMRFE", "AttributeFlip", "BitFlip", "NestedScore"]
