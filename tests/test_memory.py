"""Tests of the estimate of memory."""

import pytest

from allrelevant import RelevanceWarning
from allrelevant.memory import available_memory, estimated_memory, warn_memory


def test_available_memory_is_read(tmp_path):
    path = tmp_path / "meminfo"
    path.write_text("MemTotal:       2000 kB\nMemAvailable:   1000 kB\n")
    assert available_memory(path) == 1_024_000
    assert available_memory(tmp_path / "missing") is None


def test_more_processes_and_cells_need_more_memory():
    assert estimated_memory(1000, None, 2) > estimated_memory(1000, None, 1)
    assert estimated_memory(2000, None, 1) > estimated_memory(1000, None, 1)
    assert estimated_memory(10**6, 1000, 1) < estimated_memory(10**6, None, 1)


def test_large_jobs_are_announced():
    with pytest.warns(RelevanceWarning, match="Reduce n_jobs \\(now 4 processes\\)"):
        warn_memory(10**8, None, 4, 10**9)
    with pytest.warns(RelevanceWarning, match="Use fewer rows or columns"):
        warn_memory(10**8, None, 1, 10**9)
    warn_memory(1000, None, 1, 10**9)
    warn_memory(10**12, None, 1, None)
