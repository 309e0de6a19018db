"""Generated tables of known truth, to try the methods on and to test them by."""

from .known_truth import KnownTruth, make_esann17, make_ferel18, make_linear_classification

__all__ = ["KnownTruth", "make_esann17", "make_ferel18", "make_linear_classification"]
