"""Reproduction of the papers' tables; run ``python -m benchmarks.tables``.

- ``papers``: the tables, one module per paper
- ``table``: the description of a table
- ``runner``, ``measure``: the measurement of rows, each in its own process
- ``store``, ``rows``: the measured runs
- ``lines``, ``page``, ``index``: the pages generated from the runs
- ``agreement``: the comparison of a new run with the published one
"""
