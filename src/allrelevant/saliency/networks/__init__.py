"""Ready networks as estimators of scikit-learn; torch is imported when one is trained.

- ``estimators``: `NetworkClassifier` and `NetworkRegressor`; ``_base``: their common part
- ``catalog``: networks by name; ``architectures``: the modules of torch
- ``training``: the epochs
"""

from __future__ import annotations

from .estimators import NetworkClassifier, NetworkRegressor

__all__ = ["NetworkClassifier", "NetworkRegressor"]
