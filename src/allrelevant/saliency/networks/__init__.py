"""PyTorch networks with the scikit-learn API. PyTorch is imported only for training.

- ``estimators``: `NetworkClassifier` and `NetworkRegressor`; ``_base``: their base class
- ``catalog``: construction of networks; ``architectures``: the PyTorch modules
- ``training``: the training loop
"""

from __future__ import annotations

from .estimators import NetworkClassifier, NetworkRegressor

__all__ = ["NetworkClassifier", "NetworkRegressor"]
