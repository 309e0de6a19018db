"""Ready networks as estimators of scikit-learn; torch is imported when one is trained.

- ``classifier``, ``regressor``: what users see; ``estimator``: what they share
- ``catalogue``: networks by name; ``perceptron``, ``convolutional``,
  ``wide_residual``, ``pictures``: what they are
- ``assembly``: mask, network and scale in a row; ``mask``: weights of the inputs that become zero
- ``training``: the epochs; ``balance``: which rows they go through; ``inputs``: the rows as tensors
- ``first_look``: two rows before all others; ``threads``: threads and seeds
"""

from __future__ import annotations

from .estimators import NetworkClassifier, NetworkRegressor

__all__ = ["NetworkClassifier", "NetworkRegressor"]
