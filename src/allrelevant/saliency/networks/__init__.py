"""PyTorch networks with the scikit-learn API; torch is imported when a network is trained.

- ``estimators``: `NetworkClassifier` and `NetworkRegressor`; ``_base``: their base class
- ``catalog``: construction of networks; ``architectures``: the PyTorch modules
- ``training``: the training loop
"""

from __future__ import annotations

from .estimators import NetworkClassifier, NetworkRegressor

__all__ = ["NetworkClassifier", "NetworkRegressor"]
