"""Estimate of the memory that a fit needs, and a warning before it exceeds what is free."""

from __future__ import annotations

from pathlib import Path

from .exceptions import warn_caller

MEMORY_FILE = Path("/proc/meminfo")

# Bytes per number, and working copies of the table in each process: scaled rows of a fold, the
# table extended by as many permuted columns, and the dictionary or the matrices of a solver.
BYTES = 8
COPIES_PER_PROCESS = 6.0

# A sparse entry has a number and an index.
BYTES_PER_ENTRY = 12


def available_memory(path: Path = MEMORY_FILE) -> int | None:
    """Return the bytes of memory that are free for new work; None where this is not known."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    amount = values.get("MemAvailable", "").split()
    return int(amount[0]) * 1024 if amount else None


def estimated_memory(n_cells: int, n_entries: int | None, n_processes: int) -> float:
    """Return an estimate of the bytes that a fit needs.

    ``n_cells`` is rows times columns. ``n_entries`` is the number of entries of a sparse table,
    None for a dense one. Solvers use dense parts of a sparse table, so it counts once as dense.
    """
    table = n_cells * BYTES if n_entries is None else n_entries * BYTES_PER_ENTRY
    copies = COPIES_PER_PROCESS * table + (0 if n_entries is None else n_cells * BYTES)
    return table + n_processes * copies


def warn_memory(
    n_cells: int, n_entries: int | None, n_processes: int, available: int | None
) -> None:
    """Warn if a fit is likely to need more memory than is available."""
    needed = estimated_memory(n_cells, n_entries, n_processes)
    if available is None or needed <= available:
        return
    remedy = "Use fewer rows or columns, or a computer with more memory."
    if n_processes > 1:
        remedy = f"Reduce n_jobs (now {n_processes} processes), or use fewer rows or columns."
    warn_caller(
        f"This job may need about {needed / 1e9:.2g} GB of memory, but {available / 1e9:.2g} GB "
        f"are free. It may be slow or be stopped by the system. {remedy}"
    )
