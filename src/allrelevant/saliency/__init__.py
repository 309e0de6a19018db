"""Relevance from gradients: the inputs on which the right predictions of a model depend.

- ``selector``: `SaliencySelector`; ``deep_selection``: `DeepFeatureSelection`
- ``rounds``: the rounds of a selection; ``trainers``: what is trained in them
- ``explanation``: which features decide in a row; ``robustness``: how much a row must change
- ``gains``: what is differentiated; ``differentiable``: from a fitted estimator to its gradients
- ``aggregation``: from the saliency of rows to that of features
- ``backends``: gradients, library by library; ``networks``: ready networks
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
