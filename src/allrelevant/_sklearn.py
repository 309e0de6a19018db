"""Access to private scikit-learn attributes.

They may change in any scikit-learn release. All uses are collected here, so only this file has to
be adapted.
"""

from __future__ import annotations

from typing import Any


def fitted_gamma(svm: Any) -> float:
    """Return the kernel coefficient gamma of a fitted SVM, with "scale" and "auto" resolved."""
    return float(svm._gamma)
