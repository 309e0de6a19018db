"""Synthetic data with known ground truth, and readers for public data sets."""

from __future__ import annotations

from ._ground_truth import GroundTruth
from .classification import (
    Branches,
    PlantedGroups,
    make_branches,
    make_esann17,
    make_ferel18,
    make_linear_classification,
    make_planted_groups,
    make_xor,
)
from .mixed import MixedGroundTruth, make_mixed_classification
from .other_tasks import (
    make_linear_regression,
    make_ordinal_classification,
    make_ranking,
    make_survival,
)
from .privileged import PrivilegedGroundTruth, make_privileged
from .spectra import Spectra, load_tecator, load_wine_spectra

__all__ = [
    "Branches",
    "GroundTruth",
    "MixedGroundTruth",
    "PlantedGroups",
    "PrivilegedGroundTruth",
    "Spectra",
    "load_tecator",
    "load_wine_spectra",
    "make_branches",
    "make_esann17",
    "make_ferel18",
    "make_linear_classification",
    "make_linear_regression",
    "make_mixed_classification",
    "make_ordinal_classification",
    "make_planted_groups",
    "make_privileged",
    "make_ranking",
    "make_survival",
    "make_xor",
]
