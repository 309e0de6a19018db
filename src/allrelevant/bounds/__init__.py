"""Relevance bounds: smallest and largest absolute weight of a feature over equivalent models.

- ``classification``, ``regression``, ``ordinal``, ``ranking``: one task each, with its data, its
  estimator and its wording; ``mapping``: linear mappings and learned metrics
- ``task``: interface of a task; ``_base``: parameters, ``fit`` and fitted attributes of the
  estimators; ``_selector``: feature selector interface, also used for mappings
- ``pipeline``: computation of one subproblem, from data to bounds, with ``baseline``, ``tuning``
  (choice of C), ``programs`` (set of equivalent models), ``calibration`` and ``solver``
- ``result``: bounds and relevance classes of one subproblem, and of all subproblems combined
- ``what_if``, ``relations``, ``design``, ``risk``: functions that analyze a result
- ``path``, ``stability``: bounds over a grid of parameter values, and over random subsamples

The public names are in ``allrelevant/__init__.pyi``.
"""
