"""The papers' tables by one command: see ``__main__`` for how it is run.

- ``papers``: the tables themselves, one module a paper
- ``table``: what a table is
- ``runner``, ``measure``: rows measured, each in a process of its own
- ``store``: what was measured
- ``lines``, ``page``, ``index``: what is written of it
- ``agreement``: a new run beside the published one
"""
