"""Feature relevance with certified bounds, and feature selection.

The public names are listed in ``__init__.pyi``. They are loaded when first used, so that
``import allrelevant`` and ``allrelevant --help`` do not wait for scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
