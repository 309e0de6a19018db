"""Input gradients of trained models, with one Python module per supported library.

- ``sklearn_models``: scikit-learn linear models, MLPs and pipelines
- ``sklearn_svm``: scikit-learn SVMs
- ``torch_modules``: PyTorch modules; PyTorch devices, threads and seeds
- ``skorch_nets``: training and gradients of skorch nets

Each module registers its types with ``differentiable.register`` when it is imported.
"""

from __future__ import annotations

# Modules of this package that register the models of each library.
BACKEND_MODULES = {
    "sklearn": ("sklearn_models", "sklearn_svm"),
    "skorch": ("skorch_nets",),
    "torch": ("torch_modules",),
}
