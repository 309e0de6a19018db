"""Tests that the output of the commands equals the stored golden documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cases import CASES, Case
from .comparison import differences
from .running import run_case

STORED = Path(__file__).parent / "documents"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_document(case: Case) -> None:
    if case.needs_torch:
        pytest.importorskip("torch")
    found = run_case(case)
    for name, text in found.items():
        stored = (STORED / name).read_text(encoding="utf-8")
        assert differences(name, stored, text, case.tolerance) == [], name
    if case.has_jobs:
        parallel = run_case(case, n_jobs=2)
        assert parallel.keys() == found.keys()
        for name, text in found.items():
            assert differences(name, text, parallel[name]) == [], name


def test_every_stored_document_is_compared() -> None:
    stored = [path.name for path in STORED.iterdir()]
    assert {name.partition(".")[0] for name in stored} == set(CASES)
    assert len(stored) == 3 * len(CASES)  # result, report and printed text
