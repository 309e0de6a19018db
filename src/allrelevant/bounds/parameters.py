"""Parameters of the bounds estimators: their valid values, and their conversion to settings."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._params import MIN_FDR, MIN_NUMBER, CutoffName
from .._validation import N_JOBS, NONNEGATIVE, POSITIVE, REPEATS, SLACK
from ..parallel import Job
from ..resampling import draw_seeds
from ..terms.encoding import MAX_LEVELS, EncodingOptions
from ..terms.scaling import no_scaling, standard_scaling
from .baseline import Formulation, Tolerance
from .design import Scoring
from .pipeline import BoundsSettings, CalibrationSettings, calibration_for
from .solver.interface import EXACT_TOL
from .task import FitScaling, Subproblem
from .tuning import Tuning, read_tuning

if TYPE_CHECKING:
    from ._base import RelevanceBounds

PARAMETER_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [POSITIVE, StrOptions({"cv"})],
    "Cs": ["array-like", None],
    "cv": ["cv_object"],
    "scoring": [str, callable, None],
    "norm_slack": [SLACK],
    "loss_slack": [SLACK],
    "loss_tol": [NONNEGATIVE],
    "standardize": ["boolean"],
    "categorical": ["array-like", None],
    "curves": [Interval(Integral, 2, MAX_LEVELS, closed="both"), None],
    "terms": [dict, None],
    "cutoff": [NONNEGATIVE, StrOptions(set(get_args(CutoffName)))],
    "fdr": [Interval(Real, MIN_FDR, 1, closed="left")],
    "n_probes": [REPEATS],
    "fpr": [Interval(Real, MIN_NUMBER, 1, closed="left")],
    "tol": [Interval(Real, 0, 1, closed="neither")],
    "screen": ["boolean", StrOptions({"auto"})],
    "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
    "random_state": ["random_state"],
    "n_jobs": N_JOBS,
    "verbose": ["verbose"],
}

# With screen="auto", tables with more features than this are screened.
SCREEN_ABOVE = 2_000


def encoding_options(est: RelevanceBounds) -> EncodingOptions:
    """Return the settings that determine the encoding of a table."""
    return EncodingOptions(
        () if est.categorical is None else tuple(est.categorical),
        0 if est.curves is None else int(est.curves),
        est.terms,
    )


def scaling_method(est: RelevanceBounds) -> FitScaling:
    """Return the function that fits the scaling of a table."""
    return standard_scaling if est.standardize else no_scaling


def make_settings(
    est: RelevanceBounds,
    formulation: Formulation,
    subproblems: list[Subproblem],
    y: NDArray[Any],
    row_groups: NDArray[Any] | None,
    present: NDArray[np.bool_],
    job: Job,
) -> BoundsSettings:
    """Return the settings of a fit, which is a step of ``job``.

    ``y`` and ``row_groups`` are those of all rows; the subproblems contain the rows in the mask
    ``present``. All seeds of the fit are drawn here.
    """
    fold_seed, probe_seed, test_seed = draw_seeds(est.random_state, 3)
    C = None if est.C == "cv" else float(est.C)
    tuning = read_tuning(
        est.cv, est.scoring, est.Cs, seed=fold_seed, y=y, row_groups=row_groups, present=present
    )
    tuning.check(subproblems, warn_few_folds=C is None and est.cv is not None)
    rule = CalibrationSettings(est.cutoff, est.fdr, est.n_probes, est.fpr)
    auto = est.n_features_in_ > SCREEN_ABOVE
    return BoundsSettings(
        C=C,
        tuning=tuning,
        formulation=formulation,
        tolerance=make_tolerance(est),
        calibration=calibration_for(rule, C, tuning, probe_seed),
        fit_scaling=scaling_method(est),
        tol=max(float(est.tol), EXACT_TOL),
        screen=auto if est.screen == "auto" else bool(est.screen),
        test_seed=test_seed,
        n_jobs=est.n_jobs,
        job=job,
    )


def make_tolerance(est: RelevanceBounds) -> Tolerance:
    """Return the slack of the equivalent models."""
    return Tolerance(est.norm_slack, est.loss_slack, est.loss_tol)


def make_scoring(est: RelevanceBounds, tuning: Tuning) -> Scoring:
    """Return the settings of cross-validated scores of feature subsets.

    The seed is 0 if ``random_state`` is not an integer.
    """
    seed = int(est.random_state) if isinstance(est.random_state, Integral) else 0
    return Scoring(scaling_method(est), make_tolerance(est), tuning.with_seed(seed))
