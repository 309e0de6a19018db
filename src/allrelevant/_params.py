"""Default values and allowed choices that several constructors or commands use.

This module imports only ``typing``, so ``allrelevant report --help`` can show these values without
importing numpy. A default used by a single constructor belongs in its signature.
"""

from __future__ import annotations

from typing import Final, Literal

# Special values accepted by several parameters.
AUTO: Final = "auto"
CV: Final = "cv"

# Tasks for relevance bounds, each with the name of its estimator. On the command line, --task
# selects a task for linear models, and --method metric selects bounds for a learned metric.
METRIC: Final = "metric"
SURVIVAL: Final = "survival"
TASKS: dict[str, str] = {
    "classification": "ClassificationBounds",
    "regression": "RegressionBounds",
    "ordinal": "OrdinalBounds",
    "ranking": "RankingBounds",
    SURVIVAL: "SurvivalBounds",
    METRIC: "MetricBounds",
}
LINEAR_TASKS = tuple(name for name in TASKS if name != METRIC)

# Valid values of numeric settings, for constructors and commands. Numbers that are used without
# scaling have a smaller range than columns, because solvers have absolute tolerances.
MIN_NUMBER: Final = 1e-12
MAX_NUMBER: Final = 1e12
MAX_SLACK: Final = 1e3
MAX_COUNT: Final = 1_000_000
MAX_REPEATS: Final = 10_000
MAX_DEGREE: Final = 20
MAX_SVM_TOL: Final = 1.0
MIN_FDR: Final = 1 / MAX_REPEATS  # the calibration computes 1 / fdr permutations
# Largest tables that are read from files.
MAX_ROWS: Final = 50_000_000
MAX_COLUMNS: Final = 1_000_000
MAX_GIGABYTES: Final = 2.0

# Relevance bounds for linear models.
NORM_SLACK: Final = 0.1
LOSS_SLACK: Final = 0.05
LOSS_TOL: Final = 1e-6
TOL: Final = 1e-4
FDR: Final = "fdr"
PROBES: Final = "probes"
FIXED: Final = "fixed"
CutoffName = Literal["fdr", "probes"]
UNTESTED: Final = "untested"
CutoffRule = Literal["fdr", "probes", "fixed", "untested"]
CUTOFF: Final = FDR
FDR_LEVEL: Final = 0.05
N_PROBES: Final = 50
FPR: Final = 1e-6
FormulationName = Literal["separate", "joint"]
FORMULATION: Final = "separate"
PathParameter = Literal["C", "norm_slack"]
MAX_SEARCH_SECONDS: Final = 60.0

# Relevance bounds for mappings and metrics.
MAPPING_SLACK: Final = 0.01

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
SubsetRule = Literal["best", "smallest_best", "one_se"]
SUBSET_RULES: tuple[SubsetRule, ...] = ("best", "smallest_best", "one_se")
SUBSET_RULE: Final = "best"
BALANCED: Final = "balanced"
STEP: Final = AUTO
MIN_VARIANCE: Final = 0.0
MIN_FEATURES_TO_SELECT: Final = 1
CV_FOLDS: Final = 5
N_CANDIDATES: Final = 5
MAX_ROUNDS: Final = 1

# Saliency-based selection.
KEEP_FRACTION: Final = 0.9
