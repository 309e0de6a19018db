"""Gradient saliency: how strongly the correct predictions of a model depend on each feature.

- ``selector``: `SaliencySelector`; ``deep_selection``: `DeepFeatureSelection`
- ``rounds``: the rounds of a selection; ``trainers``: the models trained in each round
- ``explanation``: saliency of individual rows; ``robustness``: adversarial robustness
- ``gains``: gain functions; ``differentiable``: gradients of fitted estimators
- ``aggregation``: saliency summed over rows, one value per feature
- ``backends``: gradients, one module per library; ``networks``: predefined networks
"""

from __future__ import annotations

from .aggregation import AggregatedSaliency, aggregate_batches, aggregate_saliency
from .differentiable import DifferentiableModel, as_differentiable, saliency
from .explanation import Explanation, explain
from .gains import (
    CrossEntropyGain,
    Gain,
    HingeGain,
    OutputGain,
    ProbabilityGain,
    RegressionGain,
    SquaredHingeGain,
)
from .selector import SaliencySelector

__all__ = [
    "AggregatedSaliency",
    "CrossEntropyGain",
    "DifferentiableModel",
    "Explanation",
    "Gain",
    "HingeGain",
    "OutputGain",
    "ProbabilityGain",
    "RegressionGain",
    "SaliencySelector",
    "SquaredHingeGain",
    "aggregate_batches",
    "aggregate_saliency",
    "as_differentiable",
    "explain",
    "saliency",
]
