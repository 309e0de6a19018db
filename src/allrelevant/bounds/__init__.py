"""Relevance bounds: how small and how large a weight can be over all equally good models.

- ``classification``, ``regression``, ``ordinal``, ``ranking``: a task each, with its data, its
  estimator and its wording; ``mapping``: linear mappings and learned metrics
- ``_base``: parameters, ``fit`` and fitted attributes; ``_selector``: what mappings share with it;
  ``task``: what a task implements
- ``pipeline``: one subproblem from data to bounds, by way of ``baseline``, ``programs`` (the set of
  equivalent models), ``calibration`` and ``solver``; ``result``: what comes of it
- ``what_if``, ``relations``, ``design``, ``risk``: questions to a result
- ``path``, ``stability``: bounds along a setting, and over parts of the rows

The public names are in ``allrelevant/__init__.pyi``.
"""
