"""Smallest and largest weights over one set of models, with proofs.

- ``ranges``: the ranges of all weights, each answer checked; ``proofs``: what proves a bound
- ``families``: which solvers a set has; ``interface``: what a solver must implement
- ``simplex``, ``cutting``, ``highs``: solvers; ``l1``: the l1-regularized baseline
- ``constrained``: ranges under limits; ``mixed_integer``, ``cheapest``: with binary variables
"""
