"""Gradients of trained models, library by library.

- ``sklearn_models``: linear models, perceptrons and pipelines of scikit-learn
- ``sklearn_svm``: SVMs of scikit-learn
- ``torch_modules``: modules of torch; device, threads and seed of torch
- ``skorch_nets``: nets of skorch, their training and their gradients

Each module registers its types with ``differentiable.register`` when it is imported.
"""

from __future__ import annotations

# From the library that defines a class to the modules here that know its models.
HOMES = {
    "sklearn": ("sklearn_models", "sklearn_svm"),
    "skorch": ("skorch_nets",),
    "torch": ("torch_modules",),
}
