"""Synthetic datasets with known ground truth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from allrelevant.datasets import GroundTruth, make_esann17, make_ferel18, make_linear_classification

Generator = Callable[..., GroundTruth]

FEREL18: dict[str, Generator] = {
    "ferel18 A": partial(make_ferel18, "A"),
    "ferel18 B": partial(make_ferel18, "B"),
}
ESANN17: dict[str, Generator] = {
    "esann17 I": partial(make_esann17, "I"),
    "esann17 II": partial(make_esann17, "II"),
    "esann17 III": partial(make_esann17, "III"),
}
GENERAL: dict[str, Generator] = {
    "400 x 20, copies": partial(make_linear_classification, 400),
    "400 x 20, combinations": partial(make_linear_classification, 400, weak="combinations"),
}
