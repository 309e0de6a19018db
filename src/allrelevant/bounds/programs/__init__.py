"""Sets of linear models, described by linear constraints; solvers are in ``bounds.solver``.

- ``hinge``: the constraints that all tasks share
- ``pairwise``: the loss over all pairs, approximated by cutting planes
- ``equivalent_models``: linear programs, budgets and limits on weights
"""
