"""Generated tables of known truth, to try the methods on and to test them by."""

from .classification import make_esann17, make_ferel18, make_linear_classification
from .known_truth import KnownTruth
from .ordinal import make_ordinal_classification
from .planted_groups import PlantedGroups, make_planted_groups
from .privileged import KnownTruthWithPrivileged, make_privileged
from .ranking import make_ranking
from .regression import make_linear_regression

__all__ = [
    "KnownTruth",
    "KnownTruthWithPrivileged",
    "PlantedGroups",
    "make_esann17",
    "make_ferel18",
    "make_linear_classification",
    "make_linear_regression",
    "make_ordinal_classification",
    "make_planted_groups",
    "make_privileged",
    "make_ranking",
]
