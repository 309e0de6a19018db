"""The methods that the papers compare with, and peers of today, behind one small interface.

A comparator takes a table of two classes and says which features it selects
(:mod:`.interface`). Those that need packages beyond the core (Boruta, LassoNet, fri) are imported
when asked for: see ``benchmarks/tables/papers/known_truth.py``.
"""
