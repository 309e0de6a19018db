"""Relevance from gradients: which inputs a trained model's right answers hang on.

- ``selector``: what users see; ``explanation``: the same for one row
- ``gains``: what is differentiated; ``as_differentiable``: what a model must offer for it
- ``registry``: from a fitted estimator to that; ``closed_forms``: scikit-learn's models
- ``run``: the rounds; ``schedule``, ``columns``, ``balance``, ``trainers``: of how many features,
  which, on which rows, and who is trained; ``number_selected``: how many stay
- ``given``, ``targets``: rows, models and targets as users give them, checked
- ``torch_model``, ``skorch_model``: modules of torch; ``networks``: ready ones;
  ``skorch_trainer``: how nets of skorch are trained; ``failures``: why a training failed
- ``deep_selection``: a mask that becomes sparse; ``robustness``: how much a row must change, by
  ``smallest_change`` and ``certainty``
- ``aggregation``: from rows to features; ``batches``, ``loaders``: some rows at a time;
  ``devices``: where torch works
- ``trace``: what a run has found
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
