"""Backward elimination with SVMs, over one kernel that is down-dated as features leave.

- ``svm_rfe``, ``eb_rfe``, ``flips``: what users see; ``selector``: what they share
- ``engine``: the loop; ``plan``: a run as a value; ``pace``, ``criteria``: who leaves
- ``survivors``, ``kernels``, ``columns``, ``cost_changes``: the kernel of the features left
- ``machines``, ``smo``, ``class_weights``: SVMs over a kernel
- ``evaluation``, ``folds``, ``scoring``, ``nested``: how good a subset is
- ``neighbours``: the search of the flips
- ``trace``, ``recording``: what a run has found
"""

from __future__ import annotations

from .flips import AttributeFlip, BitFlip
from .rfe import EBRFE, SVMRFE
from .run import NestedScore

__all__ = ["EBRFE", "SVMRFE", "AttributeFlip", "BitFlip", "NestedScore"]
