"""Tables from files, and what must hold before a table can be analysed.

Everything here raises :class:`~allrelevant.InputError` with a message of one line that names the
columns concerned and says what to do about them. Modules are imported one by one: the help of the
command lists the file formats, and ``reading`` imports nothing heavy.
"""
