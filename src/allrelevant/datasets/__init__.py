"""Generated tables of known truth, to try the methods on and to test them by; public tables."""

from .branches import Branches, make_branches
from .classification import make_esann17, make_ferel18, make_linear_classification
from .known_truth import KnownTruth
from .ordinal import make_ordinal_classification
from .planted_groups import PlantedGroups, make_planted_groups
from .privileged import KnownTruthWithPrivileged, make_privileged
from .ranking import make_ranking
from .regression import make_linear_regression
from .spectra import Spectra
from .tecator import load_tecator
from .vps30en import VerbPatterns, load_vps30en
from .wine_spectra import load_wine_spectra
from .xor import make_xor

__all__ = [
    "Branches",
    "KnownTruth",
    "KnownTruthWithPrivileged",
    "PlantedGroups",
    "Spectra",
    "VerbPatterns",
    "load_tecator",
    "load_vps30en",
    "load_wine_spectra",
    "make_branches",
    "make_esann17",
    "make_ferel18",
    "make_linear_classification",
    "make_linear_regression",
    "make_ordinal_classification",
    "make_planted_groups",
    "make_privileged",
    "make_ranking",
    "make_xor",
]
