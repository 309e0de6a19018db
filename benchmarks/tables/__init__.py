"""The papers' tables, measured again with one command: ``python -m benchmarks.tables``.

- ``papers``: the tables, one module per paper
- ``table``: the description of a table
- ``runner``, ``measure``: measuring rows, each in its own process
- ``store``, ``rows``: the measured runs
- ``lines``, ``page``, ``index``: the pages written from them
- ``agreement``: the comparison of a new run with the published one
"""
