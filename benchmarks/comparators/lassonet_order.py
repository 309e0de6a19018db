"""Script that ranks features with LassoNet, for an environment that has this package.

usage: python lassonet_order.py TABLE.npz ORDER.npy SEED
"""

import sys

import numpy as np
import torch
from lassonet import LassoNetClassifier


def main() -> None:
    table, order, seed = sys.argv[1:]
    torch.manual_seed(int(seed))
    torch.set_num_threads(1)
    data = np.load(table)
    model = LassoNetClassifier(hidden_dims=(150, 100, 50), random_state=int(seed), verbose=0)
    model.path(data["X"], data["y"])
    np.save(order, np.argsort(-model.feature_importances_.numpy(), kind="stable"))


if __name__ == "__main__":
    main()
