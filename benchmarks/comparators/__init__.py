"""Feature selection methods of the papers and of other packages, with a common interface.

A comparator takes a table with two classes and returns the selected features
(:mod:`.interface`). ``benchmarks/tables/papers/ground_truth.py`` imports comparators that require
additional packages (Boruta, LassoNet, fri) on first use.
"""
