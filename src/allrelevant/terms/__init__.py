"""From columns of a table to weights of a model.

- ``scaling``: mean, variance and scale of columns, and of a numeric target
- ``layout``: which weights belong to which feature of which table
"""
