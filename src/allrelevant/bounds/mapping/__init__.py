"""Relevance bounds for linear mappings and learned metrics.

- ``metric_estimator``: :class:`MetricBounds`, which learns a metric first
- ``mapping_estimator``: :class:`MappingBounds`, for a mapping supplied by the user
- ``dimension``: the number of directions to keep, chosen by cross-validation
- ``row_bounds``: bounds of the components (rows) of a mapping
- ``linear_mapping``: the mapping class, and the principal directions of the data
"""
