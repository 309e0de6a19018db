"""Tests that each main call of the package executes code from a limited number of files."""

from __future__ import annotations

import pytest

from benchmarks.call_paths import BOUNDS, ELIMINATION, REPORT, SALIENCY, call_path, calls

# Two files call the compiled core, which is not counted.
MAX_FILES = {BOUNDS: 42, ELIMINATION: 28, SALIENCY: 28, REPORT: 88}


@pytest.mark.parametrize("name", MAX_FILES)
def test_number_of_files_is_limited(name: str) -> None:
    files = call_path(calls()[name]).files
    assert 0 < len(files) <= MAX_FILES[name], files
