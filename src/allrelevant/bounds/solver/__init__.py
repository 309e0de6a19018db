"""Smallest and largest weights over a set of equivalent models, with certificates.

- ``ranges``: the ranges of all weights, each solution verified; ``proofs``: dual certificates
- ``families``: the solvers for each kind of constraints; ``interface``: the solver interfaces
- ``simplex``, ``cutting``, ``highs``: solvers; ``l1``: the l1-regularized baseline
- ``constrained``: ranges under limits on weights
- ``mixed_integer``, ``cheapest``: mixed-integer linear programs (MILPs)
"""
