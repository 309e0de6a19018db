"""Feature selection methods of the papers and of other packages, with a common interface.

A comparator takes a table with two classes and returns the selected features
(:mod:`.interface`). Those that require additional packages (Boruta, LassoNet, fri) are imported
on first use: see ``benchmarks/tables/papers/ground_truth.py``.
"""
