"""Every private helper of scikit-learn that the package uses, in one place.

They have no promise of stability: when a release moves one, this is the file to mend.
"""

from __future__ import annotations

from typing import Any


def kernel_factor(machine: Any) -> float:
    """The gamma of the kernel of a fitted SVM: "scale" and "auto" as the number they stood for."""
    return float(machine._gamma)
