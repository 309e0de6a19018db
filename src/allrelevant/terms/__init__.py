"""Scaling of table columns, and assignment of model weights to features.

- ``scaling``: mean, variance and scale of columns, and of a numeric target
- ``layout``: assignment of weights to the features of each table
"""
