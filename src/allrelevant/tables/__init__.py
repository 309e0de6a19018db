"""Reading and validation of tables.

All functions raise :class:`~allrelevant.InputError` for invalid tables. The message is a single
line that names the affected columns and the remedy. Import the modules individually, because
command-line help lists file formats and must not import heavy dependencies.
"""
