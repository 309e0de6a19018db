from __future__ import annotations

from typing import Final, Literal

AUTO: Final = "auto"

# SVMs and elimination.
KernelName = Literal["linear", "rbf", "poly", "sigmoid"]
KERNEL: Final = "linear"
SVM_C: Final = 1.0
SVM_DEGREE: Final = 3
SVM_COEF0: Final = 0.0
SVM_TOL: Final = 1e-6
ClassWeightName = Literal["balanced", "cw2", "cw3"]
CriterionName = Literal["weights", "margin"]
CRITERION: Final = "weights"
SubsetRule = Literal["best", "one_se"]
SUBSET_RULE: Final = "best"
STEP: Final = 1
MIN_VARIANCE: Final = 0.0
MIN_FEATURES_TO_SELECT: Final = 1
CV_FOLDS: Final = 5
N_CANDIDATES: Final = 5
MAX_ROUNDS: Final = 1
