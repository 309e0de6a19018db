"""Feature selection, and feature relevance with certified bounds.

Public names are listed in ``__init__.pyi`` and loaded when first used, so that
``import allrelevant`` and ``allrelevant --help`` do not import scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
