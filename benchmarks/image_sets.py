"""Image datasets of Cancela et al. (2020), and the published accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Images:
    """Training images and test images, with values from 0 to 1."""

    X: NDArray
    y: NDArray
    X_new: NDArray
    y_new: NDArray

    def first(self, n_rows: int) -> tuple[NDArray, NDArray]:
        """Return the first training images, which are in random order."""
        return self.X[:n_rows], self.y[:n_rows]


@dataclass(frozen=True)
class ImageSet:
    """An image dataset and the accuracies published for it.

    Attributes
    ----------
    file : str
        Name of the file, without extension.
    shape : tuple of int
        Height, width and channels.
    sizes : tuple of int
        Numbers of features to evaluate: 5, 10, 25 and 50% of all features.
    published : dict
        Published accuracy for each size; the 3-layer CNN ranks and WRN-16-4 evaluates.
    """

    file: str
    shape: tuple[int, int, int]
    sizes: tuple[int, ...]
    published: dict[str, tuple[float, ...]]

    def load(self, folder: Path) -> Images:
        """Load all images and shuffle the training images."""
        data = np.load(folder / f"{self.file}.npz")
        X, y, test = data["X"].reshape(len(data["y"]), -1), data["y"], data["split"] == 1
        train = np.random.default_rng(0).permutation(np.flatnonzero(~test))
        return Images(X[train] / np.float32(255), y[train], X[test] / np.float32(255), y[test])


_SMALL = ((28, 28, 1), (39, 78, 196, 392))
SETS = {
    "mnist": ImageSet(
        "mnist",
        *_SMALL,
        {
            "DFS": (95.73, 98.56, 99.32, 99.46),
            "SFS, gamma 0": (89.78, 95.66, 99.14, 99.53),
            "SFS, gamma 0.9": (97.08, 98.49, 99.13, 99.56),
            "SFS+DFS, gamma 0": (95.60, 98.47, 99.38, 99.48),
        },
    ),
    "fashion_mnist": ImageSet(
        "fashion_mnist",
        *_SMALL,
        {
            "DFS": (78.85, 85.50, 90.45, 92.41),
            "SFS, gamma 0": (67.85, 81.86, 89.33, 92.36),
            "SFS, gamma 0.9": (82.63, 86.33, 90.09, 92.60),
            "SFS+DFS, gamma 0": (79.81, 86.29, 90.44, 92.59),
        },
    ),
    "cifar10": ImageSet(
        "cifar10_part",
        (32, 32, 3),
        (153, 307, 768, 1536),
        {
            "DFS": (67.43, 79.92, 87.71, 90.69),
            "SFS, gamma 0": (61.00, 72.49, 84.31, 89.31),
            "SFS, gamma 0.9": (63.52, 77.96, 89.60, 91.50),
            "SFS+DFS, gamma 0": (68.13, 79.03, 88.04, 91.06),
        },
    ),
}
