"""Access to private attributes of fitted scikit-learn estimators.

These attributes may change in any scikit-learn release. No other module uses them, so only this
file has to be adapted.
"""

from __future__ import annotations

from typing import Any


def fitted_gamma(svm: Any) -> float:
    """Return the kernel coefficient gamma of a fitted SVM, with "scale" and "auto" resolved."""
    return float(svm._gamma)
