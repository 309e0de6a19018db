"""Sets of models as values; nothing is solved here.

- ``hinge``: the rows that all tasks share; ``pairwise``: the loss over all pairs, by cutting planes
- ``equivalent_models``: linear programs, budgets, limits on weights
"""
