from __future__ import annotations

# The library that a class comes from, and our module that knows its models.
HOMES = {
    "sklearn": "allrelevant.saliency.backends.sklearn_svm",
    "skorch": "allrelevant.saliency.backends.skorch_nets",
    "torch": "allrelevant.saliency.backends.torch_modules",
}
