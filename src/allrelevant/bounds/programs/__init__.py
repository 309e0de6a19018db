"""Sets of linear models, described by linear constraints. Nothing is solved here.

- ``hinge``: the constraints that all tasks share
- ``pairwise``: the loss over all pairs, approximated by cutting planes
- ``equivalent_models``: linear programs, budgets and limits on weights
"""
